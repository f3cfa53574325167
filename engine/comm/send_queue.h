// Sends messages to one peer by a thread of its own: push() never waits for the peer, so that a
// peer that does not read delays nobody else.
//
// Memory is bounded: a peer for which more than `limit` bytes wait is lost. A failure ends the
// connection, and the thread that receives from it gets the reason as ConnectionLost. Messages that
// were not sent by then are dropped.
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
  // A peer that takes nothing for `timeout` is lost. The connection must outlive the queue.
  SendQueue(Connection& connection, std::chrono::milliseconds timeout, size_t limit = kMaxMessage);
  // Drops the waiting messages and ends the connection (shut_down()), also while one is being sent.
  ~SendQueue();
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  void push(Message message) { push(std::move(message), false); }
  // Sends the message only when no other one waits: for heartbeats, which any message replaces.
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
  size_t bytes_ = 0;             // of the bodies in `waiting_`
  bool closed_ = false;

  std::thread sender_;
};

}  // namespace engine::comm
