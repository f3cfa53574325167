#include "scheduler/results/search_counts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/descriptor.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/run_command.h"
#include "base/text.h"
#include "scheduler/results/job_json.h"
#include "scheduler/results/manifest_result.h"
#include "scheduler/results/rate_key.h"
#include "scheduler/script/engine_config.h"

namespace scheduler {
namespace {

using Json = nlohmann::json;

constexpr int kBadInput = 64;             // the engine's exit code
constexpr size_t kMostOutput = 4U << 20;  // bytes
// The engine reads the volume as its standard input, so that no path is followed.
constexpr const char* kVolume = "/dev/stdin";
// A micrograph's values matter to nothing that is counted.
constexpr const char* kImageSize = "4096";
const db::Ctf kCtf = {.defocus_u = 15000, .defocus_v = 15000, .source = "option"};

// A file in `folder` that is removed with the object.
class PassingFile {
 public:
  PassingFile(const std::string& folder, const std::string& text)
      : path_(folder + "/search-XXXXXX") {
    const base::Descriptor file(::mkostemp(path_.data(), O_CLOEXEC));
    if (!file) base::throw_errno("cannot write in '" + folder + "'");
    if (base::write_all(file.get(), text)) return;
    const int number = errno;
    ::unlink(path_.c_str());
    throw std::system_error(number, std::generic_category(), "cannot write '" + path_ + "'");
  }
  ~PassingFile() { ::unlink(path_.c_str()); }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// The engine's configuration has other lines than the user's file: their numbers are left out.
std::string users_words(std::string text, const std::string& config,
                        const CountQuestion& question) {
  const std::string named = "'" + config + "'";
  for (size_t at = 0; (at = text.find(named + " line ", at)) != std::string::npos;) {
    at += named.size();
    const size_t end = text.find(':', at);
    text.erase(at, end == std::string::npos ? end : end - at);
  }
  replace_all(text, config, question.settings_name);
  replace_all(text, kVolume, question.volume_path);
  return text;
}

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> variables = {{"PATH", base::variable("PATH", "/usr/bin:/bin")},
                                                  {"LANG", "C.UTF-8"}};
  for (const char* name : {"LD_LIBRARY_PATH", "TMPDIR"}) {
    if (const std::string value = base::variable(name); !value.empty()) variables[name] = value;
  }
  return variables;
}

// Lines "margay-engine: warning: TEXT" and those with "note".
std::vector<std::string> notes_of(const std::string& error) {
  std::vector<std::string> notes;
  for (const std::string& line : base::split(error, '\n')) {
    for (const std::string kind : {"note: ", "warning: "}) {
      const std::string begin = "margay-engine: " + kind;
      if (line.starts_with(begin)) notes.push_back(line.substr(begin.size()));
    }
  }
  return notes;
}

db::SearchCounts counts_of(const std::string& output) {
  const Json plan = Json::parse(output);
  const auto count = [&](const char* key) { return base::whole_number<int64_t>(plan, key); };
  const int64_t size = count("template_size");
  return {.engine = rate_key_of_engine(plan.at("version"), plan, size),
          .orientations = count("orientations"),
          .defocus_planes = static_cast<int64_t>(plan.at("defocus_planes").size()),
          .pixel_sizes = count("pixel_sizes"),
          .template_size = size};
}

CountAnswer answer_of(const base::CommandResult& result, const std::string& config,
                      const CountQuestion& question) {
  const std::string words = users_words(last_error(result.error), config, question);
  if (result.ending == base::CommandResult::Ending::kEnded && result.exit_code == kBadInput) {
    return {.refused = words};
  }
  const std::vector<std::string> notes = notes_of(users_words(result.error, config, question));
  if (!result.ok()) {
    return {.notes = notes, .unchecked = result.why + (words.empty() ? "" : " (" + words + ")")};
  }
  try {
    return {.counts = counts_of(result.output), .notes = notes};
  } catch (const Json::exception&) {
    return {.unchecked =
                "unexpected output of 'margay-engine plan' (is it the same version as margayd?)"};
  }
}

}  // namespace

EngineCommand engine_command(const Config& config) {
  EngineCommand command{.engine = config.engine, .folder = config.state + "/plan"};
  std::error_code ignored;  // count_search() says what is wrong with it
  std::filesystem::remove_all(command.folder, ignored);
  std::filesystem::create_directory(command.folder, ignored);
  return command;
}

CountAnswer count_search(const EngineCommand& command, const CountQuestion& question,
                         const std::function<bool()>& look) {
  try {
    const PassingFile config(command.folder,
                             engine_config({.search_yaml = question.search_yaml,
                                            .template_path = kVolume,
                                            .micrograph_path = "/nominal.mrc",
                                            .template_sha256 = question.volume_sha256,
                                            .ctf = kCtf,
                                            .folder = command.folder}));
    const base::CommandResult result = base::run_command(
        {.program = command.engine,
         .arguments = {"plan", config.path(), "--json", "--image-size", kImageSize, "--backend",
                       "cpu", "--threads", "1", "--nproc", "1"},
         .environment = environment(),
         .timeout = command.timeout,
         .most_output = kMostOutput,
         .input = question.volume,
         .most_memory = command.most_memory,
         .look = look});
    return answer_of(result, config.path(), question);
  } catch (const std::system_error& error) {
    return {.unchecked = error.what()};
  }
}

}  // namespace scheduler
