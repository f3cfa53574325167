// templates/*.sbatch as they are rendered, run by bash with margay-job and stand-ins for srun and
// the engine.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "scheduler/script/job_script.h"
#include "tests/scratch_folder.h"
#include "tests/unit/scheduler/script/script_process.h"

namespace scheduler {

// What the real one was seen to do: tasks in process groups of their own, SIGUSR1 passed on to
// them, SIGTERM to itself ends them by force, --kill-on-bad-exit, the highest exit code. When one
// has ended the others have as long as --wait says, here none; SLURM_WAIT stands for the site's
// WaitTime.
inline constexpr const char* kSrun = R"sh(#!/bin/bash
echo "${*//$'\n'/ }" >> "$SCRATCH/srun"
nodes=1 tasks=1 strict= wait=${SLURM_WAIT:-0}
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --nodes=*) nodes=${1#*=} ;;
    --ntasks-per-node=*) tasks=${1#*=} ;;
    --kill-on-bad-exit=1) strict=yes ;;
    --wait=*) wait=${1#*=} ;;
  esac
  shift
done
set -m
pids=()
asked=
trap 'asked=yes' USR1
trap 'touch "$SCRATCH/forced"; for p in "${pids[@]}"; do kill -KILL -- "-$p"; done' TERM
for ((i = 0; i < nodes * tasks; ++i)); do
  SLURM_PROCID=$i SLURM_LOCALID=$((i % tasks)) SLURM_NODEID=$((i / tasks)) SLURM_NNODES=$nodes \
    SLURM_NTASKS=$((nodes * tasks)) SLURM_STEP_NUM_TASKS=$((nodes * tasks)) SLURMD_NODENAME=n0$((i / tasks + 1)) "$@" &
  pids+=($!)
done
highest=0
while [ "${#pids[@]}" -gt 0 ]; do
  sleep 0.01
  if [ -n "$asked" ]; then
    asked=
    for p in "${pids[@]}"; do kill -USR1 -- "-$p"; done
  fi
  left=()
  for p in "${pids[@]}"; do
    if kill -0 "$p" 2>/dev/null; then
      left+=("$p")
      continue
    fi
    wait "$p"
    code=$?
    [ "$code" -le "$highest" ] || highest=$code
    [ "$code" -eq 0 ] || [ -z "$strict" ] || strict=now
    [ "$wait" -eq 0 ] || strict=now
  done
  pids=("${left[@]}")
  if [ "$strict" = now ]; then
    for p in "${pids[@]}"; do kill -TERM -- "-$p" 2>/dev/null; done
  fi
done
exit "$highest"
)sh";

class SbatchScriptTest : public testing::Test {
 protected:
  SbatchScriptTest() {
    config_.state = folder_.file("st ate");
    config_.engine = folder_.file("engine");
    config_.job = MARGAY_BIN_DIR "/margay-job";
    config_.templates = std::string(MARGAY_SOURCE_DIR) + "/templates";
    config_.cluster = ClusterKind::kSlurm;
    config_.slurm.nodes = 2;
    config_.slurm.gpus_per_node = 2;
    item_ = config_.jobs() + "/7";
    attempt_ = item_ + "/a'1";
    std::filesystem::create_directories(attempt_);
    std::filesystem::create_directories(folder_.file("bin"));
    current(1);
    program("bin/srun", kSrun);
    engine("exit 0", "exit 0");
  }

  void program(const std::string& name, const std::string& text) {
    std::filesystem::permissions(folder_.write(name, text), std::filesystem::perms::owner_all);
  }

  void engine(const std::string& probe, const std::string& search) {
    // One write for each call: several tasks write into the same file.
    program("engine",
            "#!/bin/bash\necho \"$*\" >> \"$SCRATCH/engine_calls\"\n"
            "if [ \"$1\" = selftest ]; then\n" +
                probe + "\nfi\n" + search + "\n");
  }

  void current(int number) { std::ofstream(item_ + "/current") << number << "\n"; }

  std::string rendered(const std::string& shape) {
    const ScriptInputs inputs{
        .item = {.id = 7},
        .attempt = {.item_id = 7, .number = 1, .token = "margay-x-7-a1", .directory = attempt_},
        .shape = job_shape_of(config_.slurm, base::value_of(kShapes, shape).value())};
    return render_job(config_, inputs).text;
  }

  pid_t start(const std::string& shape = "gpu") {
    const std::string script = folder_.write("job.sh", rendered(shape));
    const pid_t child = fork();
    if (child == 0) {
      // As slurmrestd gives it, without HOME and USER.
      std::vector<std::string> pairs = {
          "PATH=" + folder_.file("bin") + ":/usr/bin:/bin", "SCRATCH=" + folder_.path(),
          "SLURM_JOB_ID=77", "SLURM_JOB_NUM_NODES=" + std::string(shape == "nodes" ? "2" : "1"),
          "SLURM_CPUS_ON_NODE=6"};
      for (const auto& [name, value] : environment_) pairs.push_back(name + "=" + value);
      std::vector<char*> variables;
      for (std::string& pair : pairs) variables.push_back(pair.data());
      variables.push_back(nullptr);
      const char* const arguments[] = {"bash", script.c_str(), nullptr};
      execve("/bin/bash", const_cast<char* const*>(arguments), variables.data());
      _exit(126);
    }
    return child;
  }

  // Without the traces of the last run.
  int run(const std::string& shape = "gpu") {
    std::filesystem::remove_all(attempt_ + "/claim");
    for (const char* name : {"srun", "engine_calls"}) {
      std::filesystem::remove(folder_.file(name));
    }
    return wait_for(start(shape));
  }

  std::string calls() { return tests::text_of(folder_.file("engine_calls")); }
  int count_of_calls(const std::string& command) {
    int count = 0;
    std::istringstream lines(calls());
    for (std::string line; std::getline(lines, line);) count += line.starts_with(command + " ");
    return count;
  }
  std::string steps() { return tests::text_of(folder_.file("srun")); }

  tests::ScratchFolder folder_;
  Config config_;
  std::string item_;
  std::string attempt_;
  std::map<std::string, std::string> environment_;
};

}  // namespace scheduler
