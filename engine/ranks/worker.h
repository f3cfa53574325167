// A rank other than 0: it joins rank 0, executes its orders, and ends when rank 0 does.
//
// The computing thread calls the public functions; the object's own threads receive messages and
// send heartbeats. Sending waits at most for the timeout (--rank-timeout).
#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/ranks/messages.h"
#include "engine/ranks/rank_group.h"

namespace engine {

class Worker : public RankSession {
 public:
  // Throws Error(kDeviceFault) when rank 0 cannot be reached in time.
  explicit Worker(RankGroupOptions options);
  ~Worker() override;

  // Waits for the last rank, and makes the communicator of all ranks. `device` is used for nccl;
  // `identity` is RankDevice::identity. Throws as next() does, and CommunicatorLost.
  Communicator& start(int device, const std::string& identity);
  void ready(const Ready& ready) { send(ready); }
  void ask(uint32_t done, double best_z) { send(WorkRequest{done, best_z}); }
  void request_stop() { send(StopRequest{}); }
  // Reports to rank 0 the error with which this rank ends.
  void fail(const Error& error);

  void put(const std::string& name, const std::vector<char>& value) override;

 private:
  void receive_messages();
  void handle(RankMessage message);
  void heartbeat(const std::string& hang) override;
  void end_with(const Error& failure, bool by_leader);
  void send(const RankMessage& message);

  std::unique_ptr<comm::Connection> connection_;
  std::optional<std::string> start_;  // guarded by the mutex: the communicator's kind
  bool over_ = false;                 // guarded by the mutex: rank 0 may close the connection
  std::thread receiver_, heartbeat_thread_;
};

}  // namespace engine
