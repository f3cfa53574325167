#include "slurm/job/job_arguments.h"

#include <algorithm>

#include "base/parse_number.h"

namespace slurm {
namespace {

// Reads `--name value` words up to "--"; the command behind that is what remains.
class Reader {
 public:
  explicit Reader(const Words& words) : words_(words) {}

  // False at the "--" that ends the options.
  bool next() {
    if (at_ == words_.size()) throw UsageError("no '--' with a command behind it");
    option_ = words_[at_++];
    return option_ != "--";
  }
  const std::string& option() const { return option_; }
  std::string value() {
    if (at_ == words_.size()) throw UsageError(option_ + " needs a value");
    return words_[at_++];
  }
  int number() {
    const std::string text = value();
    const auto number = base::parse_number<int>(text);
    if (!number || *number < 1) {
      throw UsageError(option_ + " takes a number from 1 on, not '" + text + "'");
    }
    return *number;
  }
  Words command() const {
    if (at_ == words_.size()) throw UsageError("no command behind '--'");
    return {words_.begin() + static_cast<long>(at_), words_.end()};
  }
  [[noreturn]] void refuse() const { throw UsageError("unknown option '" + option_ + "'"); }

 private:
  const Words& words_;
  size_t at_ = 0;
  std::string option_;
};

std::string value_after(const Words& words, const std::string& option) {
  const auto found = std::find(words.begin(), words.end(), option);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// The last "--" is the one in front of the engine.
void part_command(const Words& command, RunOptions& options) {
  const auto last = std::find(command.rbegin(), command.rend(), "--").base();
  options.launcher.assign(command.begin(), last);
  options.engine.assign(last, command.end());
  if (options.engine.empty()) throw UsageError("no engine behind the last '--'");
}

// Without a slash at its end: the folder above it holds the fence.
std::string folder_in(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

RunOptions parse_run(const Words& words) {
  RunOptions options;
  Reader reader(words);
  while (reader.next()) {
    if (reader.option() == "--attempt") {
      options.attempt = folder_in(reader.value());
    } else if (reader.option() == "--number") {
      options.number = reader.number();
    } else if (reader.option() == "--resume") {
      options.resume = reader.value();
    } else if (reader.option() == "--batch") {
      options.batch = reader.value();
    } else if (reader.option() == "--probe") {
      options.probe = true;
    } else {
      reader.refuse();
    }
  }
  if (options.attempt.empty()) throw UsageError("--attempt is missing");
  if (options.number == 0) throw UsageError("--number is missing");
  part_command(reader.command(), options);
  return options;
}

RankOptions parse_rank(const Words& words) {
  RankOptions options;
  Reader reader(words);
  while (reader.next()) {
    if (reader.option() == "--attempt") {
      options.attempt = folder_in(reader.value());
    } else if (reader.option() == "--per-task") {
      options.per_task = reader.number();
    } else {
      reader.refuse();
    }
  }
  if (options.attempt.empty()) throw UsageError("--attempt is missing");
  options.command = reader.command();
  return options;
}

Words search_command(const RunOptions& options, const std::string& checkpoint) {
  Words command = options.launcher;
  append(command, options.engine);
  if (!checkpoint.empty()) append(command, {"--resume", checkpoint});
  if (!options.batch.empty()) append(command, {"--batch", options.batch});
  return command;
}

Words probe_command(const RunOptions& options) {
  Words command = options.launcher;
  append(command, {"timeout", "--foreground", "--kill-after=10", "300"});
  append(command, {options.engine.front(), "selftest"});
  for (const char* option : {"--backend", "--threads"}) {
    const std::string value = value_after(options.engine, option);
    if (!value.empty()) append(command, {option, value});
  }
  return command;
}

}  // namespace slurm
