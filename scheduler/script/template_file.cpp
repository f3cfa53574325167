#include "scheduler/script/template_file.h"

#include <system_error>

#include "base/read_file.h"
#include "base/text.h"
#include "scheduler/script/substitute.h"
#include "slurm/sbatch/values.h"

namespace scheduler {
namespace {

const std::string kMark = "#MARGAY";
const std::string kInclude = kMark + " include ";
const std::string kSetup = kMark + " setup";

using Values = std::map<std::string, std::string>;

std::string without_blanks_behind(const std::string& line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
}

[[noreturn]] void fail(const std::string& path, size_t line, const std::string& what) {
  throw ScriptError("script template '" + path + "', line " + std::to_string(line) + ": " + what);
}

// Refuses an included file with a #MARGAY or #SBATCH line: neither would be read there.
std::string included(const ScriptTemplate& script, const Values& values) {
  size_t number = 0;
  for (const std::string& line : base::split(script.text, '\n')) {
    ++number;
    if (line.starts_with(kMark)) {
      fail(script.path(), number, "an included file has no #MARGAY lines of its own");
    }
    if (line.starts_with("#SBATCH")) {
      fail(script.path(), number, "#SBATCH belongs into the template that includes this file");
    }
  }
  return render_script(script.text, script.path(), values);
}

// Templates of the time when they held what margay-job does; they included two files for that, and
// called their functions.
bool is_outdated(const std::string& line) {
  const std::string plain = without_blanks_behind(line);
  for (const char* gone : {"attempt.sh", "ranks.sh"}) {
    if (plain == kInclude + gone) return true;
  }
  for (const char* gone : {"begin_attempt", "probe_device", "run_search"}) {
    if (plain == gone) return true;
  }
  return false;
}

void check_is_current(const ScriptTemplate& script) {
  size_t number = 0;
  for (const std::string& line : base::split(script.text, '\n')) {
    ++number;
    if (!is_outdated(line)) continue;
    fail(script.path(), number,
         "'" + without_blanks_behind(line) +
             "' is of an older Margay, before the program margay-job; copy " + script.name +
             " from the templates that came with this one and make your changes in the copy "
             "(docs/slurm.md, \"Script templates\")");
  }
}

class Renderer {
 public:
  Renderer(const ScriptTemplate& script, const Values& values,
           const std::vector<std::string>& setup)
      : script_(script), values_(values), setup_(setup) {}

  std::string render() {
    size_t number = 0;
    auto lines = base::split(script_.text, '\n');
    if (lines.back().empty()) lines.pop_back();
    for (const std::string& line : lines) {
      ++number;
      if (line.starts_with(kMark)) {
        finish_piece();
        obey(without_blanks_behind(line), number);
        before_ = number;
      } else {
        piece_ += line + "\n";
      }
    }
    finish_piece();
    if (!setup_.empty() && !has_setup_) {
      throw ScriptError("script template '" + script_.path() +
                        "' has no line '#MARGAY setup', so that the lines of slurm.setup would not "
                        "be run");
    }
    return text_;
  }

 private:
  // Line feeds in front, so that messages count lines from the file's beginning.
  void finish_piece() {
    const std::string rendered =
        render_script(std::string(before_, '\n') + piece_, script_.path(), values_);
    text_ += rendered.substr(before_);
    piece_.clear();
  }

  void obey(const std::string& line, size_t number) {
    if (line == kSetup) {
      has_setup_ = true;
      for (const std::string& command : setup_) text_ += command + "\n";
    } else if (line.starts_with(kInclude) && is_file_name(line.substr(kInclude.size()))) {
      text_ += included(read_template(script_.folder, line.substr(kInclude.size())), values_);
    } else {
      fail(script_.path(), number,
           "'" + line + "' is neither '#MARGAY include NAME', of a file in the same folder, nor " +
               "'#MARGAY setup'");
    }
  }

  const ScriptTemplate& script_;
  const Values& values_;
  const std::vector<std::string>& setup_;
  std::string text_;
  std::string piece_;
  size_t before_ = 0;  // lines of the template before the piece
  bool has_setup_ = false;
};

}  // namespace

ScriptTemplate read_template(const std::string& folder, const std::string& name) {
  ScriptTemplate script{.folder = folder, .name = name};
  std::optional<std::string> text;
  try {
    text = base::read_file(script.path());
  } catch (const std::system_error& error) {
    throw ScriptError("script template: " + std::string(error.what()));
  }
  if (!text) {
    throw ScriptError("script template '" + script.path() +
                      "' does not exist; Margay's own are in share/margay/templates, beside the "
                      "folder of its programs");
  }
  script.text = *text;
  return script;
}

std::string render_template(const ScriptTemplate& script, const Values& values,
                            const std::vector<std::string>& setup) {
  check_is_current(script);
  return Renderer(script, values, setup).render();
}

}  // namespace scheduler
