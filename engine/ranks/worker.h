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
class Dismissed : public Error {
 public:
  using Error::Error;
};

class Member : public comm::Notices {
 public:
  // Joins rank 0. Throws Error(kDeviceFault) when it cannot be reached in time.
  explicit Member(CrewOptions options);
  ~Member() override;
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // The communicator that all ranks make when the last has arrived. `device`: for nccl; `identity`:
  // see RankDevice. These and next() throw Dismissed when rank 0 ended, Error when it is lost.
  Communicator& start(int device, const std::string& identity);
  void ready(const Ready& ready);
  void ask(uint32_t done, double best_z);
  std::optional<Order> next(std::chrono::milliseconds patience);
  // The search is to stop: leave the chunk.
  bool hurried() const { return hurried_; }
  // See Foreman.
  Communicator& group(const Order& merge);
  void group_is_lost(const std::string& why);
  void want_stop();
  // Rank 0 is told what this rank ends with.
  void fail(const Error& error);
  Pulse& pulse() { return pulse_; }

  void put(const std::string& name, const std::vector<char>& value) override;
  std::vector<char> get(const std::string& name) override;

 private:
  using Clock = std::chrono::steady_clock;

  void listen();
  void hear(RankMessage message);
  void beat();
  void end_with(ExitCode code, std::exception_ptr end);
  bool superseded();  // see Foreman
  void send(const RankMessage& message);

  CrewOptions options_;
  Pulse pulse_;
  NoticeBoard board_;
  std::unique_ptr<comm::Link> link_;
  std::unique_ptr<Groups> groups_;
  std::atomic<bool> hurried_ = false;

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
  std::optional<comm::Patience> group_lost_;  // see Foreman
  std::string group_lost_why_;

  std::thread listener_, beater_;
};

}  // namespace engine
