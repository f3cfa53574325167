// The real engine in the folder of a small search.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/small_search.h"

namespace tests {

inline std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class EngineProgram : public ::testing::Test {
 protected:
  Finished run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), engine_program());
    return run_program(arguments, search_.folder());
  }
  SmallSearch search_;
};

}  // namespace tests
