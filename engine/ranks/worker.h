// A rank other than 0, as rank 0 sees it: it joins, does what it is told, and ends when rank 0
// does.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/comm/connection.h"
#include "engine/error.h"
#include "engine/ranks/messages.h"
#include "engine/ranks/rank_group.h"

namespace engine {

// Rank 0 ended the search and has told why: nothing more is to be said.
class EndedByLeader : public Error {
 public:
  using Error::Error;
};

class Worker : public comm::Store {
 public:
  // Joins rank 0. Throws Error(kDeviceFault) when it cannot be reached in time.
  explicit Worker(RankGroupOptions options);
  ~Worker() override;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The communicator that all ranks make when the last has arrived. `device`: for nccl; `identity`:
  // see RankDevice. These and next() throw EndedByLeader when rank 0 ended, Error when it is lost.
  Communicator& start(int device, const std::string& identity);
  void ready(const Ready& ready);
  void ask(uint32_t done, double best_z);
  std::optional<Order> next(std::chrono::milliseconds wait);
  // The search is to stop: leave the chunk.
  bool should_yield() const { return should_yield_; }
  // See Leader.
  Communicator& communicator_for(const Order& merge);
  void communicator_lost(const std::string& why);
  void request_stop();
  // Rank 0 is told what this rank ends with.
  void fail(const Error& error);
  Watchdog& watchdog() { return watchdog_; }

  void put(const std::string& name, const std::vector<char>& value) override;
  std::vector<char> get(const std::string& name) override;

 private:
  using Clock = std::chrono::steady_clock;

  void receive_messages();
  void handle(RankMessage message);
  void send_heartbeats();
  void end_with(ExitCode code, std::exception_ptr end);
  bool superseded();  // see Leader
  void send(const RankMessage& message);

  RankGroupOptions options_;
  Watchdog watchdog_;
  LocalStore local_store_;
  std::unique_ptr<comm::Connection> connection_;
  std::unique_ptr<GroupCommunicator> group_communicator_;
  std::atomic<bool> should_yield_ = false;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::optional<std::string> communicator_;  // of Start
  std::deque<Order> orders_;
  std::exception_ptr end_;
  ExitCode end_code_ = ExitCode::kDeviceFault;
  Clock::time_point ended_at_;
  bool end_taken_ = false;
  bool over_ = false;  // kEnd was heard: rank 0 may close the link
  bool ending_ = false;
  std::optional<comm::Timeout> group_lost_;  // see Leader
  std::string group_lost_why_;

  std::thread receiver_, heartbeat_thread_;
};

}  // namespace engine
