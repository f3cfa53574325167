// The command lines of margay-job's two roles in a job script, as a site's administrator writes
// them:
//
//   margay-job run --attempt FOLDER --number N [--probe] [--resume FILE] [--batch N]
//     -- [srun ... margay-job rank --attempt FOLDER [--per-task N] --] margay-engine match ...
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace slurm {

using Words = std::vector<std::string>;

// The message says what is wrong with the command line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RunOptions {
  std::string attempt{};  // the attempt's folder; the item's is the folder above it
  int number = 0;         // the attempt's number
  std::string resume{};   // checkpoint of an earlier attempt; empty: none
  std::string batch{};    // correlations at once; empty: the engine's choice
  bool probe = false;     // the device is probed before the search
  Words launcher{};       // what starts the engine as a step, up to its "--"; empty: nothing does
  Words engine{};         // the program, `match` and its arguments
};

struct RankOptions {
  std::string attempt{};
  int per_task = 1;  // ranks that this process starts; 1: it is the only rank of its task
  Words command{};
};

// `words` come without the program's name and the role. Both throw UsageError.
RunOptions parse_run(const Words& words);
RankOptions parse_rank(const Words& words);

// The command of the whole search, resuming from `checkpoint` unless that is empty.
Words search_command(const RunOptions& options, const std::string& checkpoint);

// The command that probes the device on which the search would run, started by the same launcher:
// two searches with a known answer. The probe takes a second or two and is killed after 300 s.
Words probe_command(const RunOptions& options);

}  // namespace slurm
