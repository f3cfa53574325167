#include "engine/comm/send_queue.h"

#include <string>
#include <utility>

#include "base/size_text.h"

namespace engine::comm {

SendQueue::SendQueue(Connection& connection, std::chrono::milliseconds timeout, size_t limit)
    : connection_(connection), timeout_(timeout), limit_(limit), sender_([this] { send_all(); }) {}

SendQueue::~SendQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  connection_.shut_down();
  sender_.join();
}

void SendQueue::push(Message message, bool only_if_idle) {
  const std::lock_guard lock(mutex_);
  if (closed_ || (only_if_idle && !waiting_.empty())) return;
  if (!waiting_.empty() && bytes_ + message.body.size() > limit_) {
    closed_ = true;
    connection_.shut_down("it reads too slowly: more than " +
                          base::size_text(static_cast<int64_t>(limit_)) + " wait to be sent to it");
  } else {
    bytes_ += message.body.size();
    waiting_.push_back(std::move(message));
  }
  changed_.notify_all();
}

void SendQueue::send_all() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    // References to the elements of a deque stay valid when others are added at its end.
    const Message& first = waiting_.front();
    lock.unlock();
    bool lost = false;
    try {
      connection_.send(first, timeout_);
    } catch (const ConnectionLost&) {
      lost = true;  // The thread that receives gets the reason, after the peer's last messages.
    } catch (const std::exception& error) {
      lost = true;
      connection_.shut_down(error.what());
    }
    lock.lock();
    bytes_ -= first.body.size();
    waiting_.pop_front();
    closed_ = closed_ || lost;
  }
}

}  // namespace engine::comm
