// A submission as slurmrestd reads it, with the rules and oddities of each version.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/fakes/fake_slurm.h"

namespace tests {

struct FakeRefusal {
  int status = 500;
  int code = 0;
  std::string words;
  std::string unknown_key{};  // of v0.0.38, which refuses what it does not know
};

struct FakeSubmission {
  FakeJobRequest request{};
  std::optional<FakeRefusal> refusal{};
  std::vector<std::string> ignored{};  // fields that a newer version passes over with a warning
  bool crashes = false;                // slurmrestd dies of it
};

// `version` is "v0.0.38" or "v0.0.40" to "v0.0.42".
FakeSubmission read_submission(const std::string& version, const nlohmann::json& body,
                               const std::vector<std::string>& partitions);

// A signal by name ("USR1", "SIGUSR1") or number; 0 = none such.
int signal_of(const std::string& word);

}  // namespace tests
