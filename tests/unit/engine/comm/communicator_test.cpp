// The same bits from any number of ranks, and an end in bounded time when one of them is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>

#include "engine/comm/rendezvous_file.h"
#include "tests/program.h"
#include "tests/unit/engine/comm/communicator_cases.h"
#include "tests/unit/engine/comm/connect.h"

namespace tests {
namespace {

using engine::CommunicatorLost;
using engine::comm::GroupConfig;
using testing::HasSubstr;

GroupConfig place(int rank, int size, std::chrono::milliseconds timeout) {
  return {
      .rank = rank, .size = size, .name = "test", .addresses = {"127.0.0.1"}, .timeout = timeout};
}

constexpr std::chrono::milliseconds kLong{60'000}, kShort{1'000};

TEST(CommunicatorAlone, HasWhatItBroadcastsAndReduces) {
  const auto communicator = engine::comm::alone();
  EXPECT_EQ(communicator->size(), 1);
  EXPECT_EQ(fault_of_all_collectives(*communicator), "");
}

TEST(Communicator, SharesAVectorWhoseLengthOnlyRankZeroKnows) {
  const auto communicator = engine::comm::alone();
  std::vector<float> values = {1, 2, 3};
  engine::share(*communicator, values);
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
}

// Ranks as threads; what each returns.
template <typename Rank>
std::vector<std::string> with_threads(int size, std::chrono::milliseconds timeout,
                                      const Rank& rank) {
  const ScratchFolder scratch;
  std::vector<std::future<std::string>> ranks;
  for (int i = 0; i < size; ++i) {
    ranks.push_back(std::async(std::launch::async, [&, i]() -> std::string {
      FolderStore store(scratch.path());
      try {
        return rank(place(i, size, timeout), store);
      } catch (const CommunicatorLost& lost) {
        return std::string("lost: ") + lost.what();
      }
    }));
  }
  std::vector<std::string> said;
  for (auto& one : ranks) said.push_back(one.get());
  return said;
}

class GlooTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!engine::comm::has_gloo()) GTEST_SKIP() << "this build has no Gloo";
  }

  void start(int size, std::chrono::milliseconds timeout, const std::string& how) {
    for (int rank = 0; rank < size; ++rank) {
      ranks.push_back(std::make_unique<Program>(
          std::vector<std::string>{MARGAY_BIN_DIR "/communicator_rank", scratch.path(),
                                   std::to_string(rank), std::to_string(size),
                                   std::to_string(timeout.count()), how},
          scratch.path()));
    }
  }
  void wait_for_a_round() {
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      ASSERT_TRUE(becomes_true([&] {
        return std::filesystem::exists(scratch / ("round-" + std::to_string(rank)));
      })) << rank;
    }
  }
  void expect_lost(size_t but) {
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      if (rank == but) continue;
      ASSERT_TRUE(becomes_true([&] { return !ranks[rank]->running(); })) << rank;
      const Finished end = ranks[rank]->wait();
      EXPECT_EQ(end.exit_code, 3) << "rank " << rank << ", signal " << end.signal;
      EXPECT_THAT(end.error, HasSubstr("rank"));
    }
  }

  ScratchFolder scratch;
  std::vector<std::unique_ptr<Program>> ranks;
};

TEST_F(GlooTest, IsRightToTheBitForAnyNumberOfRanks) {
  for (const int size : {1, 2, 3, 4, 7}) {
    const auto said = with_threads(size, kLong, [](const GroupConfig& at, auto& store) {
      const auto communicator = engine::comm::make_gloo(at, store);
      return fault_of_all_collectives(*communicator);
    });
    EXPECT_THAT(said, testing::Each("")) << size << " ranks";
  }
}

TEST_F(GlooTest, IsRightToTheBitBetweenProcesses) {
  for (const int size : {2, 7}) {
    ranks.clear();
    std::filesystem::remove_all(scratch.path());
    std::filesystem::create_directory(scratch.path());
    start(size, kLong, "once");
    for (const auto& rank : ranks) {
      const Finished end = rank->wait();
      EXPECT_EQ(end.exit_code, 0) << end.error;
    }
  }
}

TEST_F(GlooTest, IsLostToTheOthersWhenARankIsKilled) {
  // By the end of its connections and not by the time-out.
  start(4, std::chrono::milliseconds(600'000), "on");
  wait_for_a_round();
  ranks[2]->signal(SIGKILL);
  expect_lost(2);
}

TEST_F(GlooTest, IsLostToTheOthersWhenRankZeroIsKilled) {
  start(3, std::chrono::milliseconds(600'000), "on");
  wait_for_a_round();
  ranks[0]->signal(SIGKILL);
  expect_lost(0);
}

TEST_F(GlooTest, IsLostToTheOthersWhenARankIsStopped) {
  // Long enough for the start on a slow machine.
  start(4, 3 * kShort, "on");
  wait_for_a_round();
  ranks[1]->signal(SIGSTOP);
  expect_lost(1);
  ranks[1]->signal(SIGKILL);
}

TEST_F(GlooTest, IsLostWhenARankNeverComes) {
  const auto said = with_threads(3, kShort, [](const GroupConfig& at, auto& store) {
    store.timeout = std::chrono::seconds(1);
    if (at.rank == 1) return std::string("stays away");
    const auto communicator = engine::comm::make_gloo(at, store);
    return std::string("came together");
  });
  EXPECT_THAT(said[0], HasSubstr("lost"));
  EXPECT_THAT(said[2], HasSubstr("lost"));
}

TEST_F(GlooTest, IsLostForGoodAfterARankIsLost) {
  const auto said = with_threads(2, kLong, [](const GroupConfig& at, auto& store) {
    auto communicator = engine::comm::make_gloo(at, store);
    if (at.rank == 1) return std::string("goes away");
    std::vector<uint64_t> values(100);
    EXPECT_THROW(communicator->reduce_max(values), CommunicatorLost);
    EXPECT_THROW(communicator->reduce_max(values), CommunicatorLost);
    return std::string("knows it");
  });
  EXPECT_THAT(said, testing::ElementsAre("knows it", "goes away"));
}

TEST_F(GlooTest, IsLostWhenARankDoesSomethingElse) {
  const auto said = with_threads(2, kLong, [](const GroupConfig& at, auto& store) {
    const auto communicator = engine::comm::make_gloo(at, store);
    std::vector<std::byte> bytes(at.rank == 0 ? 100 : 101);
    communicator->broadcast(bytes);
    std::vector<uint64_t> values(1);
    communicator->reduce_max(values);
    return std::string("did not notice");
  });
  EXPECT_THAT(said[1], HasSubstr("something else"));
}

TEST_F(GlooTest, ComesTogetherWhereAnAddressOfARankLeadsNowhere) {
  const auto said = with_threads(3, kLong, [](GroupConfig at, auto& store) {
    at.addresses = {"240.0.0.1", "127.0.0.1"};
    return fault_of_all_collectives(*engine::comm::make_gloo(at, store));
  });
  EXPECT_THAT(said, testing::Each(""));
}

TEST_F(GlooTest, IsGivenUpWhenItIsCancelled) {
  for (const bool comes : {false, true}) {
    std::atomic<bool> is_cancelled = !comes, over = false;
    const auto said = with_threads(2, 60 * kLong, [&](GroupConfig at, auto& store) {
      std::unique_ptr<engine::Communicator> communicator;
      if (at.rank == 1) {
        if (comes) communicator = engine::comm::make_gloo(at, store);
        return std::string(becomes_true([&] { return over.load(); }) ? "silent" : "not needed");
      }
      at.is_cancelled = [&] { return is_cancelled.load(); };
      std::string how = "came together";
      try {
        communicator = engine::comm::make_gloo(at, store);
        is_cancelled = true;
        std::vector<uint64_t> values(100);
        communicator->reduce_max(values);
      } catch (const CommunicatorLost& lost) {
        how = lost.what();
      }
      over = true;
      return how;
    });
    EXPECT_THAT(said, testing::ElementsAre(HasSubstr("cancelled"), "silent")) << comes;
  }
}

// Any program that scans for it finds the port at which a rank waits for others.
TEST_F(GlooTest, LetsNoUnauthenticatedPeerTakeARanksPlace) {
  std::vector<base::Descriptor> intruders;
  const auto said = with_threads(3, kLong, [&](const GroupConfig& at, auto& store) {
    if (at.rank == 1) {
      const std::vector<char> entry = store.get("test/mesh/0");
      const auto invitation = engine::comm::parse_rendezvous_file({entry.begin(), entry.end()});
      for (const std::string& words : {std::string(), std::string(500, '\1')}) {
        base::Descriptor socket = connect_to("127.0.0.1", invitation.value().port);
        EXPECT_TRUE(socket);
        EXPECT_EQ(::write(socket.get(), words.data(), words.size()),
                  static_cast<ssize_t>(words.size()));
        intruders.push_back(std::move(socket));
      }
    }
    const auto communicator = engine::comm::make_gloo(at, store);
    return fault_of_all_collectives(*communicator);
  });
  EXPECT_THAT(said, testing::Each(""));
}

}  // namespace
}  // namespace tests
