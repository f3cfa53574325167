// One job of the fake Slurm: what was asked for, and what has become of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tests {

// What a submission asks for, whatever the version's shape.
struct FakeJobRequest {
  std::string user;
  std::string name;
  std::string comment;
  std::string script;
  std::string directory;
  std::string output;  // "" = slurm-%j.out in the directory
  std::string error;   // "" = with the output
  std::string account = "research";
  std::string partition = "main";
  std::string qos = "normal";
  std::string dependency;
  std::string licenses;                  // it has none to give
  std::vector<std::string> environment;  // NAME=value
  bool hold = false;
  int minutes = 60;  // time limit, 0 = none
  int warning_signal = 0;
  int warning_seconds = 60;  // before the limit
  int nodes = 1;
  int tasks = 1;
  int gpus_per_node = 0;
  std::string tres_per_node;  // as it was asked for
  std::string tres_per_job;
};

struct FakeJob {
  int64_t id = 0;
  FakeJobRequest request;
  std::string state = "PENDING";
  bool completing = false;
  std::string reason = "None";
  std::string nodes;  // "n[01-02]"
  std::string batch_host;
  int wait_status = 0;
  int restarts = 0;
  int64_t submitted_ms = 0;  // since the epoch
  int64_t started_ms = 0;
  int64_t ended_ms = 0;

  bool over() const { return state != "PENDING" && state != "RUNNING"; }
};

}  // namespace tests
