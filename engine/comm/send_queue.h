// Messages on their way to one peer, sent by a thread of the queue's own: push() never waits for
// the peer, so that a peer that does not read holds up nobody else.
//
// Memory is bounded: a peer for which more than `limit` bytes wait is lost. Whatever goes wrong
// ends the connection with the reason; the thread that receives from it gets that reason as
// ConnectionLost. Messages that were not sent by then are dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/comm/connection.h"

namespace engine::comm {

class SendQueue {
 public:
  // `timeout`: how long the peer may take nothing. The connection outlives the queue.
  SendQueue(Connection& connection, std::chrono::milliseconds timeout, size_t limit = kMaxMessage);
  // Drops what waits; a message that is being sent is ended with the connection (shut_down()).
  ~SendQueue();
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  void push(Message message) { push(std::move(message), false); }
  // Nothing where other messages wait: for a heartbeat, which they replace.
  void push_if_idle(Message message) { push(std::move(message), true); }

 private:
  void push(Message message, bool only_if_idle);
  void send_all();

  Connection& connection_;
  const std::chrono::milliseconds timeout_;
  const size_t limit_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Message> waiting_;  // the first is being sent
  size_t bytes_ = 0;             // of their bodies
  bool closed_ = false;

  std::thread sender_;
};

}  // namespace engine::comm
