// The kinds of cluster, and what differs between them. To add one: its enumerator and its facts
// here, its words and keys in config_reader.cpp, and what the compiler then asks for, a case in
// each switch over the kind: the script, the limits, and the cluster object itself (make_cluster).
#pragma once

#include <chrono>

namespace scheduler {

enum class ClusterKind {
  kLocal,  // this machine alone
  kSlurm,
};

struct ClusterFacts {
  // A submission without an answer is looked up by name after this time.
  std::chrono::seconds resolve{};
  // Jobs ask for what they need by sbatch's options, and items may have such options.
  bool takes_options = false;
  // Jobs run on other machines: a shared file system may show their files late, and nothing of the
  // daemon's own environment fits there.
  bool is_remote = false;
};

constexpr ClusterFacts facts_of(ClusterKind kind) {
  using std::chrono::seconds;
  switch (kind) {
    case ClusterKind::kLocal:
      return {.resolve = seconds(5)};
    case ClusterKind::kSlurm:
      // A controller that hung may create the job that late.
      return {.resolve = seconds(30), .takes_options = true, .is_remote = true};
  }
  return {};
}

}  // namespace scheduler
