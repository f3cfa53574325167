#include "engine/comm/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "engine/comm/framing.h"
#include "engine/comm/sockets.h"

namespace engine::comm {

struct Link::Socket {
  Socket(int number, std::string other)
      : descriptor(number), peer(std::move(other)), reader(kLongestMessage) {}

  [[noreturn]] void lose(const std::string& why) const {
    throw LinkLost("the connection with " + peer + " is lost: " + why);
  }
  [[noreturn]] void lose_shut() const {
    throw LinkLost("the connection with " + peer + " was ended here");
  }

  Descriptor descriptor;
  const std::string peer;
  std::atomic<bool> shut{false};
  std::mutex sending;
  std::string broken;  // guarded by `sending`: why nothing can be sent any more
  FrameReader reader;  // of the one thread that receives
};

Link::Link(int socket, std::string peer)
    : socket_(std::make_unique<Socket>(socket, std::move(peer))) {
  prepare_connection(socket);
}

Link::~Link() {
  const int number = socket_->descriptor.get();
  (void)::shutdown(number, SHUT_RDWR);
  // With bytes unread the kernel would throw away the last messages that it has yet to deliver.
  char unread[4096];
  for (int i = 0; i < 4096 && ::recv(number, unread, sizeof unread, MSG_DONTWAIT) > 0; ++i) {
  }
}

void Link::send(const Message& message, std::chrono::milliseconds patience) {
  if (message.body.size() > kLongestMessage) {
    throw std::length_error("a message of " + std::to_string(message.body.size()) +
                            " bytes is too long");
  }
  const std::lock_guard lock(socket_->sending);
  if (socket_->shut) socket_->lose_shut();
  std::string& broken = socket_->broken;
  if (!broken.empty()) socket_->lose(broken);
  (void)send_bytes(socket_->descriptor.get(), frame_of(message), patience, broken);
  if (socket_->shut) socket_->lose_shut();
  if (!broken.empty()) socket_->lose(broken);
}

std::optional<Message> Link::receive(Deadline deadline) {
  for (;;) {
    if (socket_->shut) socket_->lose_shut();
    const Read read = socket_->reader.read(socket_->descriptor.get());
    if (socket_->shut) socket_->lose_shut();
    switch (read) {
      case Read::kWhole:
        return socket_->reader.take();
      case Read::kEnded:
        socket_->lose(socket_->reader.why());
      case Read::kTooLong:
        socket_->lose("it sent what is no message of a rank");
      case Read::kNotYet:
        break;
    }
    if (!wait_for_events(socket_->descriptor.get(), POLLIN, deadline)) return std::nullopt;
  }
}

void Link::shut() {
  socket_->shut = true;
  (void)::shutdown(socket_->descriptor.get(), SHUT_RDWR);
}

int Link::release() { return socket_->descriptor.release(); }

const std::string& Link::peer() const { return socket_->peer; }

std::string Link::local_address() const { return local_address_of(socket_->descriptor.get()); }

}  // namespace engine::comm
