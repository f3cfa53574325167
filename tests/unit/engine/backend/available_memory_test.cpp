#include "engine/backend/available_memory.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

class GroupMemory : public testing::Test {
 protected:
  void group(const std::string& path, const std::string& limit, const std::string& used,
             const std::string& statistics = "anon 1\n") {
    put(path + "/memory.max", limit);
    put(path + "/memory.current", used);
    put(path + "/memory.stat", statistics);
  }
  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.file(path);
    std::filesystem::create_directories(file.parent_path());
    write_file(file.string(), text);
  }
  uint64_t left(const std::string& membership) const {
    return group_memory_left(membership, folder_.path());
  }

  ScratchFolder folder_;
};

TEST_F(GroupMemory, IsWhatTheGroupsLimitLeaves) {
  group("job", "1000\n", "300\n");
  EXPECT_EQ(left("0::/job\n"), 700u);
}

TEST_F(GroupMemory, CountsCachedFilesAsFree) {
  group("job", "1000\n", "900\n", "anon 200\ninactive_file 400\nactive_file 300\nslab 5\n");
  EXPECT_EQ(left("0::/job\n"), 800u);
}

TEST_F(GroupMemory, IsBoundByTheGroupsAround) {
  group("job", "500\n", "100\n");
  group("job/step", "max\n", "100\n");
  group("job/step/task", "max\n", "100\n");
  EXPECT_EQ(left("0::/job/step/task\n"), 400u);
}

TEST_F(GroupMemory, ReadsVersion1Too) {
  put("memory/slurm/job/memory.limit_in_bytes", "2000\n");
  put("memory/slurm/job/memory.usage_in_bytes", "1500\n");
  put("memory/slurm/job/memory.stat", "inactive_file 1\ntotal_inactive_file 700\n");
  EXPECT_EQ(left("5:cpu,cpuacct:/\n4:memory:/slurm/job\n0::/\n"), 1200u);
}

TEST_F(GroupMemory, IsUnknownWithoutALimit) {
  group("job", "max\n", "300\n");
  put("memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("memory/memory.usage_in_bytes", "1500\n");
  EXPECT_EQ(left("4:memory:/\n0::/job\n"), 0u);
  EXPECT_EQ(left(""), 0u);
}

TEST_F(GroupMemory, OfAFullGroupIsNotUnknown) {
  group("job", "1000\n", "1000\n");
  EXPECT_EQ(left("0::/job\n"), 1u);
}

TEST(AvailableMemory, IsKnownOnThisSystem) { EXPECT_GT(available_memory(), uint64_t{1} << 20); }

}  // namespace
}  // namespace engine
