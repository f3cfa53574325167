// Rank 0 and others in one process, over real links: how they come together.
#include "engine/ranks/leader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <latch>
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
    // Who has been told stays until all have: a rank that leaves is lost to the others.
    std::latch all_told(size);
    std::vector<std::future<std::string>> others;
    for (int rank = 1; rank < size; ++rank) {
      others.push_back(std::async(std::launch::async, [&, rank] {
        Member member(options(rank, size));
        std::string refused =
            refusal([&] { member.start(0, identities[static_cast<size_t>(rank)]); });
        all_told.arrive_and_wait();
        return refused;
      }));
    }
    const std::atomic<bool> never = false;
    std::vector<std::string> all = {
        refusal([&] { foreman.gather("gloo", 0, identities.front(), never); })};
    all_told.arrive_and_wait();
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

// False: the group is lost.
template <typename Rank>
bool merges(Rank& rank, const Order& order) {
  try {
    std::vector<int64_t> values(1000);
    rank.group(order).reduce_sum(values);
    return true;
  } catch (const CommunicatorLost& lost) {
    rank.group_is_lost(lost.what());
    return false;
  }
}

// Each survivor is told of a round for each that was lost, and all but the last are with the dead.
TEST_F(Crew, WaitsForNoDeadRankWhereSeveralAreLostAtOnce) {
  if (!comm::has_gloo()) GTEST_SKIP() << "this build has no Gloo";
  constexpr int kRanks = 6, kLost = 3;
  const auto patient = [&](int rank) {
    CrewOptions crew = options(rank, kRanks);
    crew.timeout = std::chrono::hours(1);
    crew.go_on_without = true;
    return crew;
  };
  Foreman foreman(patient(0));
  std::latch all_in_a_round(kRanks);
  std::vector<std::future<void>> others;
  for (int rank = 1; rank < kRanks; ++rank) {
    others.push_back(std::async(std::launch::async, [&, rank] {
      Member member(patient(rank));
      member.start(0, "");
      member.ready({.batch = 1, .device = "a device", .way = "a way"});
      for (bool first = true;;) {
        const auto order = member.next(std::chrono::milliseconds(100));
        if (!order) continue;
        if (order->kind == OrderKind::kEnd) return;
        if (order->kind == OrderKind::kMerge) {
          if (std::exchange(first, false)) all_in_a_round.arrive_and_wait();
          if (rank <= kLost) return;
          merges(member, *order);
        } else {
          member.ask(order->kind == OrderKind::kWork ? 1 : 0, 0.0);
        }
      }
    }));
  }
  const std::atomic<bool> never = false;
  foreman.gather("gloo", 0, "", never);
  foreman.begin(std::vector<int32_t>(40, 1), std::vector<bool>(40, false), 1, "a way");
  foreman.ask(0);
  foreman.want_merge(false);
  for (bool first = true;;) {
    const auto order = foreman.next(std::chrono::milliseconds(100));
    if (!order) continue;
    if (order->kind == OrderKind::kEnd) break;
    if (order->kind == OrderKind::kMerge) {
      if (std::exchange(first, false)) all_in_a_round.arrive_and_wait();
      if (merges(foreman, *order) && foreman.merged(order->round) && foreman.over()) foreman.end();
    } else {
      foreman.ask(order->kind == OrderKind::kWork ? 1 : 0);
    }
  }
  EXPECT_TRUE(foreman.complete());
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

TEST_F(Crew, EndsWithWhatToDoWhereRankZeroMayNotOpenAFileForEach) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer for undefined behaviour opens files to look at an exception";
#endif
  Foreman foreman(options(0, 3));
  const auto meeting = comm::meeting_of(tests::text_of(options(0, 3).place.meeting.file));
  ASSERT_TRUE(meeting);
  const FilesToOpen one(1);
  const auto visitor = comm::begin_to_connect("127.0.0.1", meeting->port);
  ASSERT_TRUE(visitor[0].socket.open()) << visitor[0].why;
  const std::atomic<bool> never = false;
  try {
    foreman.gather("gloo", 0, "", never);
    FAIL() << "came together";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("3 ranks"), HasSubstr("ulimit -n")));
  }
}

TEST_F(Crew, EndsWhereARankComputesInAnotherWay) {
  auto other = std::async(std::launch::async, [&] {
    Member member(options(1, 2));
    member.ready({.batch = 4, .device = "a device", .way = "cpu, fp32, numerics version 1"});
    return refusal([&] {
      while (!member.next(std::chrono::milliseconds(100))) continue;
    });
  });
  Foreman foreman(options(0, 2));
  foreman.begin({1, 1}, {false, false}, 1, "cuda, fp32, numerics version 1");
  const std::string message = refusal([&] {
    while (!foreman.next(std::chrono::milliseconds(100))) continue;
  });
  EXPECT_THAT(message, AllOf(HasSubstr("rank 1 on "), HasSubstr("computes with cpu, fp32"),
                             HasSubstr("rank 0 with cuda, fp32"), HasSubstr("--backend")));
  EXPECT_EQ(other.get(), message);
}

}  // namespace
}  // namespace engine
