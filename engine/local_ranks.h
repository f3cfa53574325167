// `--nproc N`: this process starts its own ranks on this machine and looks after them.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "engine/error.h"

namespace engine {

// Runs `command` (argv of this very program, without --nproc) `count` times side by side, rank k
// with --rank k --world-size N --local-rank k, a rendezvous of their own on this machine and a
// fresh
// --run-id. Their messages pass through: rank 0's as they are, the others' only when they end with
// a failure. SIGTERM, SIGINT and SIGUSR1 go on to all of them. When one fails the others get
// `patience` to end by themselves, then SIGTERM, then SIGKILL; none outlives this process, however
// it ends. Returns the exit code of the rank that failed first, else rank 0's.
int run_local_ranks(const std::vector<std::string>& command, int count,
                    std::chrono::milliseconds patience, const std::atomic<bool>& stop);

}  // namespace engine
