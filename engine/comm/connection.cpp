#include "engine/comm/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <mutex>
#include <string>
#include <utility>

#include "engine/comm/framing.h"
#include "engine/comm/sockets.h"

namespace engine::comm {

struct Connection::Socket {
  Socket(int number, std::string other)
      : descriptor(number), peer(std::move(other)), reader(kMaxMessage) {}

  [[noreturn]] void lose(const std::string& why) const {
    throw ConnectionLost("the connection with " + peer + " is lost: " + why);
  }
  void throw_if_shut_down() {
    const std::lock_guard lock(ending);
    if (!shut) return;
    if (shut_reason.empty())
      throw ConnectionLost("the connection with " + peer + " was ended here");
    lose(shut_reason);
  }

  Descriptor descriptor;
  const std::string peer;
  std::mutex ending;  // guards `shut` and `shut_reason`
  bool shut = false;
  std::string shut_reason;
  std::mutex sending;
  std::string broken;  // guarded by `sending`: why nothing can be sent any more
  FrameReader reader;  // for the one thread that receives
};

Connection::Connection(int socket, std::string peer)
    : socket_(std::make_unique<Socket>(socket, std::move(peer))) {
  prepare_connection(socket);
}

Connection::~Connection() {
  const int number = socket_->descriptor.get();
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
  const std::lock_guard lock(socket_->sending);
  socket_->throw_if_shut_down();
  std::string& broken = socket_->broken;
  if (!broken.empty()) socket_->lose(broken);
  const SendResult result =
      send_all(socket_->descriptor.get(), encode_frame(message), timeout, broken);
  // The end of a message that was begun would never come. A connection that broke may still hold
  // the peer's last messages, one whose peer reads nothing is ended.
  if (result == SendResult::kStalled) shut_down(broken);
  socket_->throw_if_shut_down();
  if (!broken.empty()) socket_->lose(broken);
}

std::optional<Message> Connection::receive(Deadline deadline) {
  for (;;) {
    socket_->throw_if_shut_down();
    const ReadResult read = socket_->reader.read(socket_->descriptor.get());
    socket_->throw_if_shut_down();
    switch (read) {
      case ReadResult::kComplete:
        return socket_->reader.take();
      case ReadResult::kClosed:
        socket_->lose(socket_->reader.why());
      case ReadResult::kTooLong:
        socket_->lose("it sent what is no message of a rank");
      case ReadResult::kIncomplete:
        break;
    }
    if (!wait_for_events(socket_->descriptor.get(), POLLIN, deadline)) return std::nullopt;
  }
}

void Connection::shut_down(const std::string& why) {
  {
    const std::lock_guard lock(socket_->ending);
    if (!socket_->shut) socket_->shut_reason = why;
    socket_->shut = true;
  }
  (void)::shutdown(socket_->descriptor.get(), SHUT_RDWR);
}

int Connection::release() { return socket_->descriptor.release(); }

const std::string& Connection::peer() const { return socket_->peer; }

std::string Connection::local_address() const {
  return local_address_of(socket_->descriptor.get());
}

}  // namespace engine::comm
