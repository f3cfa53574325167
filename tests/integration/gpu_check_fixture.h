// What the tests of tools/gpu-check share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/json.h"
#include "tests/integration/fake_gpu_machine.h"
#include "tests/program.h"
#include "tests/require.h"

namespace tests {

using Json = nlohmann::json;
using Strings = FakeGpuMachine::Strings;

inline Strings names_of(const Json& results) {
  Strings names;
  for (const Json& step : results["steps"]) names.push_back(step["step"]);
  return names;
}

inline Json step_of(const Json& results, const std::string& name) {
  for (const Json& step : results["steps"]) {
    if (step["step"] == name) return step;
  }
  ADD_FAILURE() << "there is no step " << name;
  return {{"reason", ""}, {"passed", -1}, {"failed", -1}, {"skipped", -1}};
}

inline std::string reason_of(const Json& results, const std::string& name) {
  return step_of(results, name).value("reason", "");
}

// Where `number` is that of a process that has not ended.
inline bool lives(const std::string& number) {
  const std::string process = "/proc/" + std::to_string(std::stoi(number));
  return std::filesystem::exists(process) &&
         text_of_process(process + "/stat").find(") Z") == std::string::npos;
}

class GpuCheck : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kPython)) {
      MARGAY_SKIP_FOR_WANT_OF("python3", "there is no /usr/bin/python3");
    }
  }

  FakeGpuMachine machine_;
};

}  // namespace tests
