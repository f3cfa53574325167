// Rank 0 and others in one process, over real links: how they come together.
#include "engine/foreman.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "engine/member.h"
#include "tests/scratch_folder.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

class Crew : public testing::Test {
 protected:
  CrewOptions options(int rank, int size) const {
    CrewOptions crew;
    crew.place = {.launcher = Launcher::kFlags, .rank = rank, .size = size, .nonce = "test"};
    crew.place.meeting.file = scratch_ / "rank0";
    return crew;
  }

  // What each rank is told when they come together with these devices; empty: nothing.
  std::vector<std::string> told(const std::vector<std::string>& identities) {
    const int size = static_cast<int>(identities.size());
    Foreman foreman(options(0, size));
    std::vector<std::future<std::string>> others;
    for (int rank = 1; rank < size; ++rank) {
      others.push_back(std::async(std::launch::async, [&, rank] {
        Member member(options(rank, size));
        return refusal([&] { member.start(0, identities[static_cast<size_t>(rank)]); });
      }));
    }
    const std::atomic<bool> never = false;
    std::vector<std::string> all = {
        refusal([&] { foreman.gather("gloo", 0, identities.front(), never); })};
    for (auto& other : others) all.push_back(other.get());
    return all;
  }

 private:
  template <typename Function>
  std::string refusal(const Function& function) {
    try {
      function();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage) << error.what();
      return error.what();
    }
    return "";
  }

  tests::ScratchFolder scratch_;
};

TEST_F(Crew, EndsWhereTwoRanksHaveTheSameDevice) {
  for (const std::vector<std::string>& devices :
       {std::vector<std::string>{"GPU-a", "GPU-b", "GPU-b"}, {"GPU-b", "GPU-a", "GPU-b"}}) {
    for (const std::string& message : told(devices)) {
      EXPECT_THAT(message, AllOf(HasSubstr("rank 2 on "), HasSubstr("same device, GPU-b")));
    }
  }
}

TEST_F(Crew, ComesTogetherWhereEachHasADeviceOfItsOwnOrNone) {
  if (!comm::has_gloo()) GTEST_SKIP() << "this build has no Gloo";
  EXPECT_THAT(told({"GPU-a", "GPU-b", "GPU-c"}), Each(""));
  EXPECT_THAT(told({"", "", ""}), Each(""));
}

}  // namespace
}  // namespace engine
