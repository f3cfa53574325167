#include "engine/comm/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <utility>

#include "engine/comm/sockets.h"

namespace engine::comm {

Connection::Connection(int socket, std::string peer)
    : socket_(socket), peer_(std::move(peer)), reader_(kMaxMessage) {
  prepare_connection(socket);
}

Connection::~Connection() {
  const int number = socket_.get();
  (void)::shutdown(number, SHUT_RDWR);
  // With bytes unread the kernel would throw away the last messages that it has yet to deliver.
  char unread[4096];
  for (int i = 0; i < 4096 && ::recv(number, unread, sizeof unread, MSG_DONTWAIT) > 0; ++i) {
  }
}

void Connection::send(const Message& message, std::chrono::milliseconds timeout) {
  if (message.body.size() > kMaxMessage) {
    throw std::length_error("a message of " + std::to_string(message.body.size()) +
                            " bytes is too long");
  }
  const std::lock_guard lock(sending_);
  throw_if_shut_down();
  if (!broken_.empty()) lose(broken_);
  const SendResult result = send_all(socket_.get(), encode_frame(message), timeout, broken_);
  // The end of a message that was begun would never come. A connection that broke may still hold
  // the peer's last messages, one whose peer reads nothing is ended.
  if (result == SendResult::kStalled) shut_down(broken_);
  throw_if_shut_down();
  if (!broken_.empty()) lose(broken_);
}

std::optional<Message> Connection::receive(Deadline deadline) {
  for (;;) {
    throw_if_shut_down();
    const ReadResult read = reader_.read(socket_.get());
    throw_if_shut_down();
    switch (read) {
      case ReadResult::kComplete:
        return reader_.take();
      case ReadResult::kClosed:
        lose(reader_.why());
      case ReadResult::kTooLong:
        lose("it sent what is no message of a rank");
      case ReadResult::kIncomplete:
        break;
    }
    if (!wait_for_events(socket_.get(), POLLIN, deadline)) return std::nullopt;
  }
}

void Connection::shut_down(const std::string& why) {
  {
    const std::lock_guard lock(ending_);
    if (!shut_) shut_reason_ = why;
    shut_ = true;
  }
  (void)::shutdown(socket_.get(), SHUT_RDWR);
}

int Connection::release() { return socket_.release(); }

std::string Connection::local_address() const { return local_address_of(socket_.get()); }

void Connection::lose(const std::string& why) const {
  throw ConnectionLost("the connection with " + peer_ + " is lost: " + why);
}

void Connection::throw_if_shut_down() {
  const std::lock_guard lock(ending_);
  if (!shut_) return;
  if (shut_reason_.empty())
    throw ConnectionLost("the connection with " + peer_ + " was ended here");
  lose(shut_reason_);
}

}  // namespace engine::comm
