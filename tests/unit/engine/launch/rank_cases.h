// The variables that each launcher sets, and what find_rank() makes of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/launch/rank_identity.h"

namespace engine {

using Variables = std::map<std::string, std::string>;

inline RankPlace find(const Variables& variables, const RankFlags& flags = {}) {
  return find_rank(flags, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

// The message for the user; empty when nothing is wrong.
inline std::string refusal(const Variables& variables, const RankFlags& flags = {}) {
  try {
    find(variables, flags);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

inline Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

inline Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

// Without each of `names` in turn the refusal names it.
inline void expect_needed(const Variables& variables, const std::vector<std::string>& names) {
  ASSERT_EQ(refusal(variables), "");
  for (const std::string& name : names) {
    EXPECT_THAT(refusal(without(variables, name)), testing::HasSubstr(name));
  }
}

inline Variables torchrun() {
  return {{"RANK", "3"},
          {"WORLD_SIZE", "8"},
          {"LOCAL_RANK", "1"},
          {"LOCAL_WORLD_SIZE", "2"},
          {"MASTER_ADDR", "node1"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", "none"},
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
}

// As seen in a step of five tasks on two hosts, with --gpus-per-task=1.
inline Variables slurm() {
  return {{"SLURM_PROCID", "2"},
          {"SLURM_NTASKS", "5"},
          {"SLURM_STEP_NUM_TASKS", "5"},
          {"SLURM_LOCALID", "2"},
          {"SLURM_NODEID", "0"},
          {"SLURM_JOB_ID", "4711"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_CLUSTER_NAME", "testbed"},
          {"SLURM_STEP_NODELIST", "n[01-02]"},
          {"SLURM_JOB_NODELIST", "n[01-04]"},
          {"SLURM_STEP_TASKS_PER_NODE", "4,1"},
          {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.99"},
          {"CUDA_VISIBLE_DEVICES", "2"},
          {"SLURM_STEP_GPUS", "2"},
          {"SLURM_GPUS_ON_NODE", "4"}};
}

inline Variables open_mpi() {
  return {{"OMPI_COMM_WORLD_RANK", "1"},
          {"OMPI_COMM_WORLD_SIZE", "4"},
          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
          {"PMIX_NAMESPACE", "prterun-host-123@1"}};
}

}  // namespace engine
