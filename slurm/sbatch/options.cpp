#include "slurm/sbatch/options.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "base/nearest_name.h"
#include "base/parse_number.h"
#include "base/text.h"
#include "slurm/sbatch/values.h"

namespace slurm {
namespace {

using Canonical = std::optional<std::string>;

Canonical plain_text(const std::string& value) {
  if (value.empty()) return std::nullopt;
  return value;
}

// A name or a list of names, which have no blanks.
Canonical word(const std::string& value) {
  if (value.empty() || value.find(' ') != std::string::npos) return std::nullopt;
  return value;
}

Canonical hosts(const std::string& value) {
  // sbatch takes a value with a slash for a file, and slurmrestd cannot read it.
  if (value.find('/') != std::string::npos) return std::nullopt;
  return word(value);
}

Canonical absolute_path(const std::string& value) {
  if (value.empty() || value[0] != '/') return std::nullopt;
  return value;
}

Canonical count(const std::string& value) {
  const auto number = parse_count(value);
  if (!number || *number < 1 || *number > 1'000'000) return std::nullopt;
  return std::to_string(*number);
}

Canonical time_limit(const std::string& value) {
  const auto seconds = parse_time(value);
  if (!seconds) return std::nullopt;
  return time_text(*seconds);
}

Canonical memory(const std::string& value) {
  const auto megabytes = parse_memory(value);
  if (!megabytes) return std::nullopt;
  return memory_text(*megabytes);
}

Canonical some_memory(const std::string& value) {
  const Canonical text = memory(value);
  return text == "0" ? std::nullopt : text;
}

Canonical nodes(const std::string& value) {
  const auto range = parse_nodes(value);
  if (!range) return std::nullopt;
  const std::string least = std::to_string(range->least);
  return range->least == range->most ? least : least + "-" + std::to_string(range->most);
}

Canonical gres(const std::string& value) {
  const auto entries = parse_gres(value);
  if (!entries) return std::nullopt;
  return gres_text(*entries);
}

Canonical gpus(const std::string& value) {
  const auto wanted = parse_gpus(value);
  if (!wanted) return std::nullopt;
  return (wanted->type.empty() ? "" : wanted->type + ":") + std::to_string(wanted->count);
}

Canonical exclusive(const std::string& value) {
  if (value.empty() || value == "user" || value == "mcs") return value;
  return std::nullopt;
}

Canonical nice(const std::string& value) {
  if (value.empty()) return "100";
  const auto number = base::parse_number<int>(value);
  if (!number || std::abs(*number) > 2'000'000'000) return std::nullopt;
  return std::to_string(*number);
}

// slurmrestd 22.05 refuses the forms "B:" and "R:".
Canonical early_signal(const std::string& value) {
  const auto signal = parse_signal(value);
  if (!signal) return std::nullopt;
  return signal->name + "@" + std::to_string(signal->seconds);
}

Canonical mail_type(const std::string& value) {
  static const std::vector<std::string> words = {
      "NONE",          "BEGIN",       "END",           "FAIL",          "REQUEUE",
      "ALL",           "STAGE_OUT",   "TIME_LIMIT",    "TIME_LIMIT_90", "TIME_LIMIT_80",
      "TIME_LIMIT_50", "ARRAY_TASKS", "INVALID_DEPEND"};
  std::set<std::string> given;
  for (const std::string& type : base::split(base::upper(value), ',')) {
    if (std::find(words.begin(), words.end(), type) == words.end()) return std::nullopt;
    given.insert(type);
  }
  if (given.count("NONE") != 0) return "NONE";
  std::vector<std::string> types;
  for (const std::string& type : words) {
    if (given.count(type) != 0) types.push_back(type);
  }
  return base::joined(types, ",");
}

Canonical moment(const std::string& value) {
  const bool fits = std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string(":+-./ ").find(c) != std::string::npos;
  });
  return fits ? plain_text(value) : std::nullopt;
}

Canonical hint(const std::string& value) {
  for (const char* known : {"compute_bound", "memory_bound", "multithread", "nomultithread"}) {
    if (value == known) return value;
  }
  return std::nullopt;
}

const std::string kGpusExpected = "a number of GPUs such as 4 or a100:4, not 'gpu:4'";
const std::string kMemoryExpected = "an amount of memory such as 500M, 32G or 1T";
const std::string kMomentExpected = "a time such as 2030-01-31T12:00:00 or now+1hour";

// The options that Margay sets itself, and why nobody else may.
struct OwnOption {
  std::string name;
  char letter;  // of the short form, 0 = none
  std::string why;
};

const std::vector<OwnOption>& own_options() {
  static const std::string once =
      "Margay itself starts a search again, as a new job, and must be the only one to do so";
  static const std::string other_job =
      "each of Margay's jobs is one search that waits for no other";
  static const std::string submission = "it is about the submission, which is Margay's";
  static const std::vector<OwnOption> options = {
      {"job-name", 'J',
       "Margay finds its jobs by a name that it sets itself; a name for people is given with the "
       "item (margay enqueue --label) and goes into the job's comment"},
      {"output", 'o', "Margay keeps the output of each attempt as job.log in the attempt's folder"},
      {"requeue", 0, once},
      {"no-requeue", 0, once},
      {"dependency", 'd', other_job},
      {"array", 'a', other_job},
      {"hold", 'H', "Margay holds and releases its jobs itself (margay hold)"},
      {"comment", 0, "Margay writes the item, the attempt and the label into it"},
      {"test-only", 0, submission + "; see margay render"},
      {"wait", 'W', submission},
      {"parsable", 0, submission}};
  return options;
}

// sbatch's other options, with their letters.
constexpr std::string_view kForeignOptions =
    "acctg-freq batch bb bbf burst-buffer cluster-constraint clusters/M container "
    "contiguous core-spec/S cores-per-socket cpu-freq delay-boot "
    "distribution/m export export-file extra extra-node-info/B get-user-env gid "
    "gpu-freq gres-flags help/h ignore-pbs input/i kill-on-invalid-dep mcs-label "
    "mem-bind mincpus network no-kill/k nodefile/F ntasks-per-core ntasks-per-gpu "
    "ntasks-per-socket open-mode overcommit/O oversubscribe/s power priority "
    "profile propagate quiet/Q reboot sockets-per-node spread-job thread-spec "
    "threads-per-core time-min tres-bind tres-per-task uid usage use-min-nodes "
    "verbose/v version/V wait-all-nodes wrap ";

// The long name of a foreign option, by its long name or its letter; empty: sbatch has none such.
std::string foreign_option(const std::string& name, char letter) {
  for (const std::string& word : base::split(std::string(kForeignOptions), ' ')) {
    const std::string known = word.substr(0, word.find('/'));
    if (!known.empty() && (known == name || (letter != 0 && word == known + '/' + letter))) {
      return known;
    }
  }
  return "";
}

}  // namespace

const std::vector<DirectiveOption>& directive_options() {
  static const Argument required = Argument::kRequired;
  static const Argument optional = Argument::kOptional;
  static const std::string words = "a name without blanks";
  static const std::string number = "a number above 0";
  static const std::vector<DirectiveOption> options = {
      {"partition", 'p', required, words, word},
      {"account", 'A', required, words, word},
      {"qos", 'q', required, words, word},
      {"reservation", 0, required, words, word},
      {"nodes", 'N', required, "a number of nodes such as 2 or 2-4", nodes},
      {"ntasks", 'n', required, number, count},
      {"ntasks-per-node", 0, required, number, count},
      {"cpus-per-task", 'c', required, number, count},
      {"mem", 0, required, kMemoryExpected + " (0: all of the node)", memory},
      {"mem-per-cpu", 0, required, kMemoryExpected, some_memory},
      {"mem-per-gpu", 0, required, kMemoryExpected, some_memory},
      {"gres", 0, required, "a list such as gpu:4 or gpu:a100:2,lscratch:100", gres},
      {"gpus", 'G', required, kGpusExpected, gpus},
      {"gpus-per-node", 0, required, kGpusExpected, gpus},
      {"gpus-per-task", 0, required, kGpusExpected, gpus},
      {"time", 't', required,
       "minutes, m:s, h:m:s, d-h, d-h:m, d-h:m:s or UNLIMITED, such as 90 or 1-12:00:00",
       time_limit},
      {"constraint", 'C', required, "node features such as a100&nvlink", plain_text},
      {"exclusive", 0, optional, "no value, 'user' or 'mcs'", exclusive},
      {"licenses", 'L', required, "a list such as foo:2", word},
      {"nodelist", 'w', required, "names of nodes such as n[01-04], not a file", hosts},
      {"exclude", 'x', required, "names of nodes such as n[01-04], not a file", hosts},
      {"signal", 0, required,
       "a signal and seconds before the time limit such as USR1@120, for the steps alone (B: is "
       "refused by slurmrestd)",
       early_signal},
      {"nice", 0, optional, "a whole number", nice},
      {"begin", 'b', required, kMomentExpected, moment},
      {"deadline", 0, required, kMomentExpected, moment},
      {"mail-user", 0, required, "an address without blanks", word},
      {"mail-type", 0, required, "a list of NONE, BEGIN, END, FAIL, REQUEUE, ALL, TIME_LIMIT ...",
       mail_type},
      {"error", 'e', required, "a path", plain_text},
      {"chdir", 'D', required, "an absolute path", absolute_path},
      {"wckey", 0, required, words, word},
      {"tmp", 0, required, kMemoryExpected + ", of a node's temporary disk", some_memory},
      {"cpus-per-gpu", 0, required, number, count, true},
      {"gpu-bind", 0, required, "a binding such as closest, none or single:1", word, true},
      {"hint", 0, required, "compute_bound, memory_bound, multithread or nomultithread", hint,
       true},
      {"switches", 0, required, "a number of switches and the longest wait, such as 1@30:00", word,
       true},
      {"prefer", 0, required, "node features such as a100|h200", plain_text, true}};
  return options;
}

const DirectiveOption* find_option(const std::string& name) {
  for (const DirectiveOption& option : directive_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

const DirectiveOption* find_option(char letter) {
  for (const DirectiveOption& option : directive_options()) {
    if (option.letter != 0 && option.letter == letter) return &option;
  }
  return nullptr;
}

std::string refusal_of(const std::string& name) {
  for (const OwnOption& own : own_options()) {
    if (own.name == name) return "--" + name + " cannot be set here: " + own.why + "; take it out";
  }
  if (!foreign_option(name, 0).empty()) {
    return "--" + name + " of sbatch is none of those that Margay passes on; take it out";
  }
  std::vector<std::string> known;
  for (const DirectiveOption& option : directive_options()) known.push_back(option.name);
  return "sbatch has no option --" + name + base::did_you_mean(name, known);
}

std::string refusal_of(char letter) {
  for (const OwnOption& own : own_options()) {
    if (own.letter == letter) return refusal_of(own.name);
  }
  const std::string name = foreign_option("", letter);
  return name.empty() ? std::string("sbatch has no option -") + letter : refusal_of(name);
}

}  // namespace slurm
