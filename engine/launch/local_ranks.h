// `--nproc N`: starts the ranks of one search on this machine, as processes, and supervises them.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "engine/error.h"

namespace engine {

struct LocalRanks {
  std::vector<std::string> command;  // argv of this very program, without --nproc
  int count = 1;
  // CUDA_VISIBLE_DEVICES of each rank, which names its own device; empty: this process's for all.
  std::vector<std::string> devices{};
  std::chrono::milliseconds grace_period{60'000};
  bool continue_on_rank_loss =
      false;           // a failure of another rank than rank 0 does not end the others
  bool quiet = false;  // rank 0's messages, too, only when it fails
};

// Runs the command `count` times side by side, rank k with --rank k --world-size N, where it has no
// device of its own --local-rank k, a rendezvous of their own on this machine and a fresh --run-id.
// Their messages pass through: rank 0's as they are, the others' only when they end with a failure.
// `stop` is forwarded to all of them as SIGTERM. When one fails, the others get `grace_period` to
// end by themselves, then SIGTERM, as long again, then SIGKILL; when rank 0 has ended, 5 s at most
// each. None outlives the thread that calls this, however it ends. Returns rank 0's exit code when
// it has done its job, or when lost ranks are accepted; else that of the rank that failed first
// (128 and the signal's number when a signal ended it, which goes before a failure that may only
// follow from it); else rank 0's.
int run_local_ranks(const LocalRanks& ranks, const std::atomic<bool>& stop);

}  // namespace engine
