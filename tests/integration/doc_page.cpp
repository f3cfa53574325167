#include "tests/integration/doc_page.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>

#include "tests/program.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

constexpr const char* kLongest = "900";  // seconds of one terminal
constexpr const char* kMarker = "@@ page";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_comment(const std::string& command) {
  return std::regex_replace(command, std::regex(R"((^|\s+)#.*$|^\s+|\s+$)"), "");
}

std::string with_single_blanks(const std::string& text) {
  std::istringstream stream(text);
  std::string joined;
  for (std::string word; stream >> word;) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

std::string pattern_of(const std::string& promised) {
  static const std::string any = "...";
  std::string pattern;
  const std::string text = with_single_blanks(promised);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, any.size(), any) == 0) {
      pattern += '*';
      i += any.size() - 1;
    } else {
      if (std::string("*?[]\\").find(text[i]) != std::string::npos) pattern += '\\';
      pattern += text[i];
    }
  }
  return pattern;
}

bool prints(const std::string& output, const std::string& promised) {
  const std::vector<std::string> lines = lines_of(output);
  const std::string pattern = pattern_of(promised);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return fnmatch(pattern.c_str(), with_single_blanks(line).c_str(), 0) == 0;
  });
}

bool starts_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

void add_prose(DocPage& page, const std::string& text) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  static const std::regex code("`([^`]+)`");
  for (std::sregex_iterator i(text.begin(), text.end(), link), end; i != end; ++i) {
    const std::string target = (*i)[1].str();
    if (target.find("://") != std::string::npos || starts_with(target, "mailto:")) continue;
    const std::string path = target.substr(0, target.find('#'));
    if (!path.empty()) page.links.push_back(path);
  }
  for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) {
    page.inline_code.push_back(with_single_blanks((*i)[1]));
  }
}

std::string mark_in(const std::string& line) {
  std::smatch found;
  static const std::regex comment("<!-- (.*) -->");
  return std::regex_match(line, found, comment) ? found[1].str() : "";
}

// A shell that types a terminal's commands.
class Shell {
 public:
  Shell(const Terminal& terminal, const std::string& tree)
      : terminal_(terminal),
        program_({"/usr/bin/timeout", "--kill-after=5", kLongest, "/bin/bash", script(tree)},
                 tree) {}
  // With all that it started, and no more than that: `timeout` leads a process group.
  ~Shell() {
    if (program_.running()) kill(-program_.pid(), SIGKILL);
  }

  bool running() { return program_.running(); }
  void wait() { program_.wait(); }

  bool printed_all_of_the_last() const {
    const Command& last = terminal_.commands.back();
    const std::optional<std::string> output = output_of(last);
    return output &&
           std::all_of(last.promised.begin(), last.promised.end(),
                       [&](const std::string& promised) { return prints(*output, promised); });
  }

  std::vector<std::string> faults(const std::string& page) const {
    std::vector<std::string> faults;
    for (const Command& command : terminal_.commands) {
      const std::string place =
          page + ":" + std::to_string(command.line) + ": `" + command.text + "` ";
      const std::optional<std::string> output = output_of(command);
      if (!output) break;  // an earlier one failed
      const std::string status = status_of(command);
      if (status != "0") {
        faults.push_back(place + (status.empty() ? "does not end" : "ends with " + status) + "\n" +
                         *output);
      }
      for (const std::string& promised : command.promised) {
        if (!prints(*output, promised)) {
          faults.push_back(place + "does not print '" + promised + "' but\n" + *output);
        }
      }
    }
    return faults;
  }

 private:
  std::string script(const std::string& tree) const {
    std::string text =
        "export HOME='" + tree + ".home' PATH=/usr/bin:/bin\n" +
        "unset MARGAY_SOCKET XDG_RUNTIME_DIR XDG_STATE_HOME\nmkdir -p \"$HOME\"\nexec >'" + log() +
        "' 2>&1\n";
    for (const Command& command : terminal_.commands) {
      text += "printf '\\n" + begin_of(command) + "\\n'\n" + command.text + "\nstatus=$?\n" +
              "printf '\\n" + end_of(command) + " %s\\n' \"$status\"\n" +
              "[ \"$status\" -eq 0 ] || exit 1\n";
    }
    return scratch_.write("script", text);
  }
  std::string log() const { return scratch_ / "log"; }
  static std::string begin_of(const Command& command) {
    return std::string(kMarker) + " begin " + std::to_string(command.line);
  }
  static std::string end_of(const Command& command) {
    return std::string(kMarker) + " end " + std::to_string(command.line);
  }

  // Nothing when it has not begun.
  std::optional<std::string> output_of(const Command& command) const {
    const std::string text = text_of(log());
    const std::string begin = begin_of(command) + "\n";
    const size_t from = text.find(begin);
    if (from == std::string::npos) return std::nullopt;
    const size_t start = from + begin.size();
    return text.substr(start, text.find("\n" + end_of(command), start) - start);
  }
  // Empty when it has not ended.
  std::string status_of(const Command& command) const {
    const std::string text = text_of(log());
    const std::string end = "\n" + end_of(command) + " ";
    const size_t from = text.find(end);
    if (from == std::string::npos) return "";
    return text.substr(from + end.size(), text.find('\n', from + 1) - from - end.size());
  }

  Terminal terminal_;
  ScratchFolder scratch_;
  Program program_;
};

}  // namespace

DocPage parse_page(const std::string& name, const std::string& text) {
  DocPage page{.name = name};
  std::string before, prose;
  bool in_block = false;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    if (starts_with(line, "```")) {
      if (!in_block) {
        page.blocks.push_back(
            {.language = line.substr(3), .mark = mark_in(before), .line = number, .lines = {}});
      }
      in_block = !in_block;
    } else if (in_block) {
      page.blocks.back().lines.push_back(line);
    } else {
      const bool goes_on = !page.indented.empty() && page.indented.back() == before;
      if (starts_with(line, "    ") && (before.empty() || goes_on)) page.indented.push_back(line);
      prose += line + "\n";
    }
    before = line;
  }
  add_prose(page, prose);
  return page;
}

std::vector<Command> commands_of(const CodeBlock& block) {
  std::vector<Command> commands;
  std::string text;
  int first = 0;
  int number = block.line;
  for (const std::string& line : block.lines) {
    ++number;
    if (text.empty()) first = number;
    if (!line.empty() && line.back() == '\\') {
      text += line.substr(0, line.size() - 1);
      continue;
    }
    text = without_comment(text + line);
    if (!text.empty()) commands.push_back({.text = text, .line = first, .promised = {}});
    text.clear();
  }
  return commands;
}

std::vector<Terminal> terminals_of(const DocPage& page) {
  std::vector<Terminal> terminals(1);
  Command* last = nullptr;  // of the block before
  for (const CodeBlock& block : page.blocks) {
    if (block.language == "text" && last != nullptr) last->promised = block.lines;
    last = nullptr;
    if (block.language != "sh" || starts_with(block.mark, kNotRun)) continue;
    if (terminals.back().left_running) terminals.emplace_back();
    std::vector<Command>& commands = terminals.back().commands;
    for (Command& command : commands_of(block)) commands.push_back(std::move(command));
    terminals.back().left_running = starts_with(block.mark, kLeftRunning);
    if (!commands.empty()) last = &commands.back();
  }
  return terminals;
}

std::vector<std::string> faults_of(const DocPage& page, const std::string& tree) {
  std::vector<std::unique_ptr<Shell>> shells;
  for (const Terminal& terminal : terminals_of(page)) {
    shells.push_back(std::make_unique<Shell>(terminal, tree));
    Shell& shell = *shells.back();
    if (terminal.left_running) {
      becomes_true([&] { return shell.printed_all_of_the_last() || !shell.running(); });
    } else {
      shell.wait();
    }
  }
  std::vector<std::string> faults;
  for (const auto& shell : shells) {
    becomes_true([&] { return !shell->running(); });
    for (std::string& fault : shell->faults(page.name)) faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace tests
