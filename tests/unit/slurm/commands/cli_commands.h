// Scripts in the place of Slurm's commands, which write down how they were called.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "slurm/commands/cli_cluster.h"
#include "tests/scratch_folder.h"

namespace slurm {

class Commands : public ::testing::Test {
 protected:
  Commands() {
    std::filesystem::create_directory(scratch_ / "bin");
    for (const char* command :
         {"sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo", "sacctmgr"}) {
      becomes(command, "");
    }
    options_.commands = scratch_ / "bin";
    options_.scratch = scratch_ / "scratch";
    options_.name_prefix = "margay-lab-";
    options_.steady_ms = [this] { return now_ms_; };
  }

  // What the command does from now on, beside writing down its arguments.
  void becomes(const std::string& command, const std::string& script) const {
    const std::string path =
        scratch_.write("bin/" + command, "#!/bin/bash\nprintf '%s\\n' begin \"$@\" >> " +
                                             scratch_ / command + ".calls\n" + script + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  Cluster& cluster() {
    if (!cluster_) cluster_ = make_cli_cluster(options_);
    return *cluster_;
  }

  // The arguments of each call.
  std::vector<std::vector<std::string>> calls(const std::string& command) const {
    std::vector<std::vector<std::string>> all;
    std::istringstream lines(tests::text_of(scratch_ / (command + ".calls")));
    for (std::string line; std::getline(lines, line);) {
      if (line == "begin") {
        all.emplace_back();
      } else {
        all.back().push_back(line);
      }
    }
    return all;
  }

  void queue_holds(const std::vector<std::pair<std::string, std::string>>& names_by_state) const {
    std::string text;
    int id = 11;
    for (const auto& [state, name] : names_by_state) {
      text += std::to_string(id++) + "\x1f" + state +
              "\x1f"
              "0\x1f"
              "0\x1f"
              "5\x1f"
              "6\x1f"
              "7\x1fn1\x1f"
              "9\x1f\x1f\x1f\x1f\x1f"
              "1\x1f"
              "1\x1fNone\x1f" +
              name + "\x1e\n";
    }
    scratch_.write("queue", text);
    becomes("squeue", "cat " + scratch_ / "queue");
  }

  JobRequest request() const {
    return {.name = "margay-lab-1-a1",
            .comment = "{\"item\": 1}",
            .script = "#!/bin/bash\n#SBATCH --time=5\necho 'it'\"'\"'s'\n",
            .directory = scratch_.path(),
            .output_path = scratch_ / "out",
            .environment = {{"MINE", "a b"}}};
  }

  tests::ScratchFolder scratch_;
  CliClusterOptions options_;
  int64_t now_ms_ = 1'000'000;
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace slurm
