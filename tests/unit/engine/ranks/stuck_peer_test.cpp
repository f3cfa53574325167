// Rank 0 and a rank that lives but reads nothing: the others are not held up by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "engine/comm/join.h"
#include "engine/ranks/leader.h"
#include "engine/ranks/worker.h"
#include "tests/scratch_folder.h"

namespace engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr milliseconds kTimeout{3'000};

// A rank that takes part until the group is complete and then only sends heartbeats.
class StuckRank : public comm::Store {
 public:
  explicit StuckRank(const RankPlace& place)
      : place_(place),
        connection_(comm::join(place.rendezvous, place.nonce, place.rank,
                               comm::Timeout(std::chrono::minutes(1)))) {}

  void assemble() {
    send(DeviceClaim{});
    receive_until([](const RankMessage& message) { return std::get_if<Start>(&message); });
    communicator_ = comm::make_gloo({.rank = place_.rank,
                                     .size = place_.size,
                                     .name = "start",
                                     .addresses = {connection_->local_address()}},
                                    *this);
    send(Ready{.batch = 1, .device = "a device", .signature = "a signature"});
  }
  void only_send_heartbeats(const std::atomic<bool>& done) {
    try {
      while (!done) {
        send(Heartbeat{});
        std::this_thread::sleep_for(milliseconds(100));
      }
    } catch (const comm::ConnectionLost&) {
      // Rank 0 has given this rank up.
    }
  }

  void put(const std::string& name, const std::vector<char>& value) override {
    send(StoreEntry{name, value});
  }
  std::vector<char> get(const std::string& name) override {
    receive_until([&](const RankMessage&) { return values_.count(name) > 0; });
    return values_[name];
  }

 private:
  void send(const RankMessage& message) { connection_->send(encode(message), kTimeout); }
  void receive_until(const std::function<bool(const RankMessage&)>& done) {
    for (RankMessage message = Heartbeat{}; !done(message);) {
      message = decode(*connection_->receive(steady_clock::now() + std::chrono::minutes(1)));
      if (const auto* entry = std::get_if<StoreEntry>(&message)) {
        values_[entry->name] = entry->value;
      }
    }
  }

  const RankPlace place_;
  std::unique_ptr<comm::Connection> connection_;
  std::map<std::string, std::vector<char>> values_;
  std::unique_ptr<Communicator> communicator_;
};

class StuckPeer : public testing::Test {
 protected:
  void SetUp() override {
    if (!comm::has_gloo()) GTEST_SKIP() << "this build has no Gloo";
  }

  RankGroupOptions options(int rank) {
    RankGroupOptions group;
    group.place = {.launcher = Launcher::kFlags, .rank = rank, .size = 3, .nonce = "test"};
    group.place.rendezvous.file = scratch_ / "rank0";
    group.timeout = timeout_;
    group.continue_on_rank_loss = true;
    group.message = [this](const std::string& sentence) {
      const std::lock_guard lock(mutex_);
      messages_ += sentence + "\n";
    };
    return group;
  }

  void healthy_rank() {
    Worker worker(options(2));
    worker.start(0, "");
    worker.ready({.batch = 1, .device = "a device", .signature = "a signature"});
    for (;;) {
      const auto order = worker.next(milliseconds(100));
      if (!order) continue;
      if (order->kind == OrderKind::kEnd) return;
      if (order->kind == OrderKind::kMerge) {
        merge(worker, *order);
      } else {
        worker.ask(order->kind == OrderKind::kWork ? 1 : 0, 0.0);
      }
    }
  }

  template <typename Rank>
  static bool merge(Rank& rank, const Order& order) {
    try {
      std::vector<int64_t> values(1000);
      rank.communicator_for(order).reduce_sum(values);
      return true;
    } catch (const CommunicatorLost& lost) {
      rank.communicator_lost(lost.what());
      return false;
    }
  }

  // Until the search has ended.
  void work(Leader& leader) {
    const auto deadline = steady_clock::now() + 10 * kTimeout;
    leader.ask(0);
    while (steady_clock::now() < deadline) {
      const auto order = leader.next(milliseconds(100));
      if (!order) continue;
      if (order->kind == OrderKind::kEnd) return;
      if (order->kind == OrderKind::kMerge) {
        if (merge(leader, *order) && leader.merged(order->round) && leader.over()) leader.end();
      } else {
        leader.ask(order->kind == OrderKind::kWork ? 1 : 0);
      }
    }
    ADD_FAILURE() << "the stuck rank is never lost";
    leader.abandon(Error(ExitCode::kDeviceFault, "the test ends"));
  }

  std::string messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

  // Rank 0 here, a stuck rank and a healthy one in threads of their own.
  void start() {
    leader_ = std::make_unique<Leader>(options(0));
    stuck_ = std::async(std::launch::async, [&] {
      StuckRank rank(options(1).place);
      rank.assemble();
      rank.only_send_heartbeats(done_);
    });
    healthy_ = std::async(std::launch::async, [&] { healthy_rank(); });
    const std::atomic<bool> never = false;
    leader_->assemble("gloo", 0, "", never);
    leader_->begin(std::vector<int32_t>(40, 1), std::vector<bool>(40, false), 1, "a signature");
  }
  // More than the kernel's buffers hold of a connection.
  void send_ballast() {
    for (int i = 0; i < 8; ++i) leader_->put("ballast", std::vector<char>(size_t{4} << 20));
  }
  void let_go() {
    done_ = true;
    stuck_.get();
  }

  tests::ScratchFolder scratch_;
  milliseconds timeout_ = kTimeout;
  std::mutex mutex_;
  std::string messages_;
  std::atomic<bool> done_ = false;
  std::unique_ptr<Leader> leader_;
  std::future<void> stuck_, healthy_;
};

TEST_F(StuckPeer, IsLostAloneWhileTheOthersFinish) {
  start();
  send_ballast();
  work(*leader_);

  EXPECT_TRUE(leader_->complete());
  EXPECT_THAT(messages(), AllOf(HasSubstr("rank 1 on "), HasSubstr("was lost"),
                                HasSubstr("it takes nothing any more"), Not(HasSubstr("rank 2"))));
  EXPECT_NO_THROW(healthy_.get());
  leader_.reset();
  let_go();
}

TEST_F(StuckPeer, DoesNotKeepRankZeroWaiting) {
  timeout_ = std::chrono::minutes(1);
  start();
  send_ballast();
  EXPECT_THAT(messages(), Not(HasSubstr("was lost"))) << "rank 0 waited until the rank was lost";
  let_go();
  work(*leader_);

  EXPECT_TRUE(leader_->complete());
  EXPECT_NO_THROW(healthy_.get());
}

}  // namespace
}  // namespace engine
