#include "slurm/job/oom_kills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/scratch_folder.h"

namespace slurm {
namespace {

using testing::Optional;

class OomKills : public testing::Test {
 protected:
  OomKills() {
    std::filesystem::create_directories(folder_.file("system.slice/margayd.service"));
    folder_.write("cgroup", "5:devices:/x\n0::/system.slice/margayd.service\n");
  }
  void kernel_says(const std::string& events) const {
    folder_.write("system.slice/margayd.service/memory.events", events);
  }
  std::optional<int64_t> counted() const {
    return oom_kills({.own = folder_.file("cgroup"), .root = folder_.path()});
  }
  tests::ScratchFolder folder_;
};

TEST_F(OomKills, AreReadWhereTheOwnCgroupCountsThem) {
  kernel_says("low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\noom_group_kill 0\n");
  EXPECT_THAT(counted(), Optional(1));
}

TEST_F(OomKills, AreNotKnownWithoutAReadableCount) {
  EXPECT_EQ(counted(), std::nullopt) << "no such file";
  kernel_says("low 0\noom_kill many\n");
  EXPECT_EQ(counted(), std::nullopt);
  kernel_says("oom_group_kill 4\n");
  EXPECT_EQ(counted(), std::nullopt) << "an old kernel";
  folder_.write("cgroup", "5:memory:/x\n");
  EXPECT_EQ(counted(), std::nullopt) << "cgroups of version 1";
  EXPECT_EQ(oom_kills({.own = folder_.path(), .root = folder_.path()}), std::nullopt);
}

}  // namespace
}  // namespace slurm
