// Implements `--nproc N`: starts the ranks of one search as processes on this machine, and
// supervises them.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "engine/error.h"

namespace engine {

struct LocalRanks {
  std::vector<std::string> command;  // argv of this program, without --nproc
  int count = 1;
  // CUDA_VISIBLE_DEVICES of each rank, which names its own device; empty: all ranks inherit it.
  std::vector<std::string> devices{};
  std::chrono::milliseconds grace_period{60'000};
  bool continue_on_rank_loss =
      false;           // a failure of another rank than rank 0 does not end the others
  bool quiet = false;  // rank 0's messages, too, are shown only when it fails
};

// Runs the command `count` times side by side. Rank k gets --rank k, --world-size, a rendezvous on
// this machine, a new --run-id and, without a device of its own, --local-rank k. Rank 0's messages
// pass through; those of another rank are shown only when it fails. `stop` is forwarded to all
// ranks as SIGTERM. When a rank fails, the others get `grace_period` to end by themselves, then
// SIGTERM, then `grace_period` again, then SIGKILL; once rank 0 has ended, each wait is at most
// 5 s. No rank outlives the calling thread, however that ends.
//
// Returns rank 0's exit code when rank 0 has succeeded, when lost ranks are accepted, or when no
// rank has failed; else the code of the rank that failed first. A signal counts as 128 plus its
// number, and goes before exit codes, which may only follow from it.
int run_local_ranks(const LocalRanks& ranks, const std::atomic<bool>& stop);

}  // namespace engine
