// Rank 0 and others in one process, over real links: how they come together.
#include "engine/ranks/leader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <latch>
#include <string>
#include <utility>

#include "engine/comm/rendezvous_file.h"
#include "engine/comm/sockets.h"
#include "engine/ranks/worker.h"
#include "tests/scratch_folder.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

class RankGroupTest : public testing::Test {
 protected:
  RankGroupOptions options(int rank, int size) const {
    RankGroupOptions group_options;
    group_options.place = {
        .launcher = Launcher::kFlags, .rank = rank, .size = size, .nonce = "test"};
    group_options.place.rendezvous.file = scratch_ / "rank0";
    return group_options;
  }

  // The refusal that each rank gets when they come together with these devices; empty: none.
  std::vector<std::string> assignments(const std::vector<std::string>& identities) {
    const int size = static_cast<int>(identities.size());
    Leader leader(options(0, size));
    // A rank that has its answer stays until all have theirs: a rank that leaves is lost to the
    // others.
    std::latch all_answered(size);
    std::vector<std::future<std::string>> others;
    for (int rank = 1; rank < size; ++rank) {
      others.push_back(std::async(std::launch::async, [&, rank] {
        Worker worker(options(rank, size));
        std::string refused =
            refusal([&] { worker.start(0, identities[static_cast<size_t>(rank)]); });
        all_answered.arrive_and_wait();
        return refused;
      }));
    }
    const std::atomic<bool> never = false;
    std::vector<std::string> all = {
        refusal([&] { leader.assemble("gloo", 0, identities.front(), never); })};
    all_answered.arrive_and_wait();
    for (auto& other : others) all.push_back(other.get());
    return all;
  }

  template <typename Function>
  static std::string refusal(const Function& function) {
    try {
      function();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage) << error.what();
      return error.what();
    } catch (const CommunicatorLost& lost) {
      return lost.what();
    }
    return "";
  }

 private:
  tests::ScratchFolder scratch_;
};

TEST_F(RankGroupTest, EndsWhereTwoRanksHaveTheSameDevice) {
  for (const std::vector<std::string>& devices :
       {std::vector<std::string>{"GPU-a", "GPU-b", "GPU-b"}, {"GPU-b", "GPU-a", "GPU-b"}}) {
    for (const std::string& message : assignments(devices)) {
      EXPECT_THAT(message, AllOf(HasSubstr("rank 2 on "), HasSubstr("same device, GPU-b")));
    }
  }
}

TEST_F(RankGroupTest, ComesTogetherWhereEachHasADeviceOfItsOwnOrNone) {
  if (!comm::has_gloo()) GTEST_SKIP() << "this build has no Gloo";
  EXPECT_THAT(assignments({"GPU-a", "GPU-b", "GPU-c"}), Each(""));
  EXPECT_THAT(assignments({"", "", ""}), Each(""));
}

// False: the group is lost.
template <typename Rank>
bool merges(Rank& rank, const Order& order) {
  try {
    std::vector<int64_t> values(1000);
    rank.communicator_for(order).reduce_sum(values);
    return true;
  } catch (const CommunicatorLost& lost) {
    rank.communicator_lost(lost.what());
    return false;
  }
}

// Each survivor learns of a round for each that was lost, and all but the last are with the dead.
TEST_F(RankGroupTest, WaitsForNoDeadRankWhereSeveralAreLostAtOnce) {
  if (!comm::has_gloo()) GTEST_SKIP() << "this build has no Gloo";
  constexpr int kRanks = 6, kLost = 3;
  const auto patient = [&](int rank) {
    RankGroupOptions group_options = options(rank, kRanks);
    group_options.timeout = std::chrono::hours(1);
    group_options.continue_on_rank_loss = true;
    return group_options;
  };
  Leader leader(patient(0));
  std::latch all_in_a_round(kRanks);
  std::vector<std::future<void>> others;
  for (int rank = 1; rank < kRanks; ++rank) {
    others.push_back(std::async(std::launch::async, [&, rank] {
      Worker worker(patient(rank));
      worker.start(0, "");
      worker.ready({.batch = 1, .device = "a device", .signature = "a way"});
      for (bool first = true;;) {
        const auto order = worker.next(std::chrono::milliseconds(100));
        if (!order) continue;
        if (order->kind == OrderKind::kEnd) return;
        if (order->kind == OrderKind::kMerge) {
          if (std::exchange(first, false)) all_in_a_round.arrive_and_wait();
          if (rank <= kLost) return;
          merges(worker, *order);
        } else {
          worker.ask(order->kind == OrderKind::kWork ? 1 : 0, 0.0);
        }
      }
    }));
  }
  const std::atomic<bool> never = false;
  leader.assemble("gloo", 0, "", never);
  leader.begin(std::vector<int32_t>(40, 1), std::vector<bool>(40, false), 1, "a way");
  leader.ask(0);
  leader.request_merge(false);
  for (bool first = true;;) {
    const auto order = leader.next(std::chrono::milliseconds(100));
    if (!order) continue;
    if (order->kind == OrderKind::kEnd) break;
    if (order->kind == OrderKind::kMerge) {
      if (std::exchange(first, false)) all_in_a_round.arrive_and_wait();
      if (merges(leader, *order) && leader.merged(order->round) && leader.over()) leader.end();
    } else {
      leader.ask(order->kind == OrderKind::kWork ? 1 : 0);
    }
  }
  EXPECT_TRUE(leader.complete());
  for (auto& other : others) other.get();
}

// So many more, for as long as this object lives.
class FilesToOpen {
 public:
  explicit FilesToOpen(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(STDIN_FILENO);
    ::close(next);
    const rlimit limit{static_cast<rlim_t>(next) + more, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~FilesToOpen() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FilesToOpen(const FilesToOpen&) = delete;
  FilesToOpen& operator=(const FilesToOpen&) = delete;

 private:
  rlimit before_{};
};

TEST_F(RankGroupTest, EndsWithWhatToDoWhereRankZeroMayNotOpenAFileForEach) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer for undefined behaviour opens files to look at an exception";
#endif
  Leader leader(options(0, 3));
  const auto rendezvous =
      comm::parse_rendezvous_file(tests::text_of(options(0, 3).place.rendezvous.file));
  ASSERT_TRUE(rendezvous);
  const FilesToOpen one(1);
  std::string why;
  const auto addresses = comm::resolve("127.0.0.1", rendezvous->port, why);
  ASSERT_FALSE(addresses.empty()) << why;
  // Rank 0 may already have closed the connection when begin_to_connect() returns.
  const auto connecting = comm::begin_to_connect(addresses[0], why);
  ASSERT_TRUE(connecting) << why;
  const std::atomic<bool> never = false;
  try {
    leader.assemble("gloo", 0, "", never);
    FAIL() << "came together";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("3 ranks"), HasSubstr("ulimit -n")));
  }
}

TEST_F(RankGroupTest, EndsWhereARankComputesInAnotherWay) {
  auto other = std::async(std::launch::async, [&] {
    Worker worker(options(1, 2));
    worker.ready({.batch = 4, .device = "a device", .signature = "cpu, fp32, numerics version 1"});
    return refusal([&] {
      while (!worker.next(std::chrono::milliseconds(100))) continue;
    });
  });
  Leader leader(options(0, 2));
  leader.begin({1, 1}, {false, false}, 1, "cuda, fp32, numerics version 1");
  const std::string message = refusal([&] {
    while (!leader.next(std::chrono::milliseconds(100))) continue;
  });
  EXPECT_THAT(message, AllOf(HasSubstr("rank 1 on "), HasSubstr("computes with cpu, fp32"),
                             HasSubstr("rank 0 with cuda, fp32"), HasSubstr("--backend")));
  EXPECT_EQ(other.get(), message);
}

}  // namespace
}  // namespace engine
