#include "engine/comm/framing.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "engine/comm/sockets.h"
#include "engine/comm/timeout.h"

namespace engine::comm {
namespace {

// What has not come yet takes no memory.
constexpr size_t kGrowth = size_t{1} << 20;

static_assert(std::endian::native == std::endian::little);

}  // namespace

std::vector<std::byte> encode_frame(const Message& message) {
  const std::array<uint32_t, 2> head{message.kind, static_cast<uint32_t>(message.body.size())};
  const auto bytes = std::as_bytes(std::span(head));
  std::vector<std::byte> frame(bytes.size() + message.body.size());
  const auto body = std::copy(bytes.begin(), bytes.end(), frame.begin());
  std::copy(message.body.begin(), message.body.end(), body);
  return frame;
}

ReadResult FrameReader::read(int socket) {
  const ReadResult head = fill(socket, std::as_writable_bytes(std::span(head_)), head_filled_);
  if (head != ReadResult::kComplete) return head;
  const size_t length = head_[1];
  if (length > longest_) return ReadResult::kTooLong;
  while (body_filled_ < length) {
    message_.body.resize(std::min(length, body_filled_ + kGrowth));
    const ReadResult body = fill(socket, message_.body, body_filled_);
    if (body != ReadResult::kComplete) return body;
  }
  message_.kind = head_[0];
  return ReadResult::kComplete;
}

Message FrameReader::take() {
  head_filled_ = body_filled_ = 0;
  return std::exchange(message_, {});
}

ReadResult FrameReader::fill(int socket, std::span<std::byte> bytes, size_t& filled) {
  while (filled < bytes.size()) {
    const ssize_t got = ::recv(socket, bytes.data() + filled, bytes.size() - filled, 0);
    if (got > 0) {
      filled += static_cast<size_t>(got);
    } else if (got == 0) {
      why_ = "the connection was closed";
      return ReadResult::kClosed;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return ReadResult::kIncomplete;
    } else if (errno != EINTR) {
      why_ = errno_message(errno);
      return ReadResult::kClosed;
    }
  }
  return ReadResult::kComplete;
}

SendResult send_all(int socket, std::span<const std::byte> bytes, std::chrono::milliseconds timeout,
                    std::string& why) {
  Timeout left(timeout);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(sent));
      left.restart();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for_events(socket, POLLOUT, left.next_check()) && left.expired()) {
        why = "it takes nothing any more";
        return SendResult::kStalled;
      }
    } else if (errno != EINTR) {
      why = errno_message(errno);
      return SendResult::kBroken;
    }
  }
  return SendResult::kSent;
}

}  // namespace engine::comm
