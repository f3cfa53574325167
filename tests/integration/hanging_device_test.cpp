// A rank whose device does not come back from a batch: the process lives and answers, and still the
// whole ends by the rank's name or continues without it, in bounded time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "tests/integration/rank_group.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class HangingDevice : public testing::Test {
 protected:
  HangingDevice() {
    search_.sections["orientation_search_config"] = "{psi_step: 6, theta_step: 12, symmetry: C1}";
  }

  // Of 3 ranks this one's device hangs after a few batches.
  void start(int victim, std::vector<std::string> options = {}) {
    std::vector<std::vector<std::string>> wrappers(3);
    const char* const given = std::getenv("ASAN_OPTIONS");
    // What is preloaded comes before the sanitizer.
    wrappers[static_cast<size_t>(victim)] = {
        "/usr/bin/env", std::string("LD_PRELOAD=") + MARGAY_HANGING_TRANSFORMS,
        "MARGAY_HANG_AT_TRANSFORM=3000",
        "ASAN_OPTIONS=verify_asan_link_order=0:" + std::string(given == nullptr ? "" : given)};
    // What hangs is FFTW.
    options.insert(options.end(), {"--batch", "2", "--fft", "fftw"});
    group_ = std::make_unique<RankGroup>(search_,
                                         RankGroupSetup{.options = options, .wrappers = wrappers});
  }

  SmallSearch search_;
  std::unique_ptr<RankGroup> group_;
};

TEST_F(HangingDevice, OfAnyOtherRankEndsAllByThatRanksName) {
  start(1);
  // The thread that computes never comes back: its process ends all the same.
  const std::vector<Finished> ends = group_->wait();
  for (const Finished& f : ends) EXPECT_EQ(f.exit_code, 70) << f.error;
  EXPECT_THAT(ends[0].error,
              AllOf(HasSubstr("rank 1 on "), HasSubstr("was lost: it has been at one batch"),
                    HasSubstr("its device hangs")));
}

TEST_F(HangingDevice, OfRank0EndsAllWithItsMessage) {
  start(0, {"--on-rank-loss", "continue"});
  const std::vector<Finished> ends = group_->wait();
  for (const Finished& f : ends) EXPECT_EQ(f.exit_code, 70) << f.error;
  EXPECT_THAT(ends[0].error, HasSubstr("rank 0 was lost: it has been at one batch"));
}

TEST_F(HangingDevice, IsNoLossToTheMapsWhereTheOthersMayGoOn) {
  ASSERT_EQ(search_.match({"--fft", "fftw"}).exit_code, 0);
  const std::vector<std::string> reference = map_pixels(search_);
  start(2, {"--on-rank-loss", "continue", "--checkpoint-every", "50ms"});
  // The others are done while it still hangs.
  for (const int rank : {0, 1}) {
    ASSERT_TRUE(becomes_true([&] { return !group_->rank(rank).running(); })) << rank;
  }
  group_->rank(2).signal(SIGKILL);
  const std::vector<Finished> ends = group_->wait();
  EXPECT_EQ(ends[0].exit_code, 0) << ends[0].error;
  EXPECT_EQ(ends[1].exit_code, 0) << ends[1].error;
  EXPECT_THAT(ends[0].error,
              AllOf(HasSubstr("rank 2 on "), HasSubstr("its device hangs; the others go on")));
  EXPECT_TRUE(map_pixels(search_) == reference) << "the maps differ";
}

}  // namespace
}  // namespace tests
