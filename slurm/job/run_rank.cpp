#include "slurm/job/run_rank.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/environment.h"
#include "base/text.h"
#include "slurm/job/attempt_claim.h"
#include "slurm/job/child_process.h"
#include "slurm/job/job_rules.h"

namespace slurm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLastWord{2000};

// An empty variable counts as unset, as in the engine.
int number_in(const char* name, int otherwise) {
  const std::string value = base::variable(name);
  return value.empty() ? otherwise : std::atoi(value.c_str());
}

// As the engine finds it: torchrun's, Open MPI's and Slurm's names, in this order.
int own_rank() {
  return number_in("RANK", number_in("OMPI_COMM_WORLD_RANK", number_in("SLURM_PROCID", 0)));
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return shell_code(status);
}

// A rank ends with 70 also when another one is gone, which it may know before that one has ended:
// 70 is recorded last. A rank without others has nobody to wait for.
void let_others_end_first(const std::filesystem::path& faults) {
  const bool has_others =
      !base::variable("RANK").empty() || number_in("OMPI_COMM_WORLD_SIZE", 1) > 1;
  if (number_in("SLURM_STEP_NUM_TASKS", 0) == 1 && !has_others) return;
  const auto deadline = steady_clock::now() + kLastWord;
  while (steady_clock::now() < deadline && access((faults / "first").c_str(), F_OK) != 0) {
    std::this_thread::sleep_for(milliseconds(20));
  }
}

int run_one(const RankOptions& options, int rank) {
  const Started engine = start_program(options.command, Input::kOurs);
  const int ended = engine.failure != 0 ? engine.failure : wait_for(engine.pid);
  const int code = code_of_rank(ended, rank);
  const std::filesystem::path faults = std::filesystem::path(options.attempt) / "faults";
  if (code == kDeviceFault) let_others_end_first(faults);
  if (code != kDone) {
    record_fault(faults, rank, {.code = code, .host = base::variable("SLURMD_NODENAME")});
  }
  return code;
}

// CUDA's list, too, ends at an entry that is no device.
Words devices_of_task() {
  Words devices = base::split(base::variable("CUDA_VISIBLE_DEVICES"), ',');
  devices.erase(std::find(devices.begin(), devices.end(), ""), devices.end());
  return devices;
}

void set(const char* name, int value) { setenv(name, std::to_string(value).c_str(), 1); }

// By torchrun's names, which the engine knows; each rank sees its own device alone.
int run_local_rank(const RankOptions& options, int local) {
  const int here = options.per_task;
  const int rank = number_in("SLURM_NODEID", 0) * here + local;
  set("RANK", rank);
  set("LOCAL_RANK", local);
  set("WORLD_SIZE", number_in("SLURM_NNODES", 1) * here);
  set("LOCAL_WORLD_SIZE", here);
  const Words devices = devices_of_task();
  if (static_cast<int>(devices.size()) == here) {
    setenv("CUDA_VISIBLE_DEVICES", devices[static_cast<size_t>(local)].c_str(), 1);
  }
  return run_one(options, rank);
}

int run_all(const RankOptions& options) {
  std::vector<pid_t> ranks;
  for (int local = 0; local < options.per_task; ++local) {
    const pid_t rank = fork();
    if (rank == 0) _exit(run_local_rank(options, local));
    if (rank < 0) {
      std::fprintf(stderr, "margay-job: cannot start a rank: %s\n", std::strerror(errno));
      return kCannotRun;
    }
    ranks.push_back(rank);
  }
  int worst = kDone;
  for (const pid_t rank : ranks) worst = std::max(worst, wait_for(rank));
  return worst;
}

}  // namespace

int run_rank(const RankOptions& options) {
  block_job_signals();
  return options.per_task > 1 ? run_all(options) : run_one(options, own_rank());
}

}  // namespace slurm
