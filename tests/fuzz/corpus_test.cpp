// What the fuzzers begin with, and what they found, as ordinary tests.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/read_file.h"
#include "tests/fuzz/targets.h"

namespace tests {
namespace {

namespace fs = std::filesystem;

class FuzzCorpus : public testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzCorpus, IsParsedOrRefused) {
  const fs::path folder = fs::path(MARGAY_SOURCE_DIR "/tests/fuzz/corpus") / GetParam().name;
  ASSERT_TRUE(fs::is_directory(folder)) << folder << " is missing";
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    const std::string bytes = base::read_file(entry.path().string()).value();
    EXPECT_NO_THROW(GetParam().parse(bytes));
    EXPECT_NO_THROW(GetParam().parse(bytes.substr(0, bytes.size() / 2)));
    ++files;
  }
  EXPECT_GT(files, 0);
  EXPECT_NO_THROW(GetParam().parse(""));
}

INSTANTIATE_TEST_SUITE_P(Parsers, FuzzCorpus, testing::ValuesIn(fuzz_targets()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tests
