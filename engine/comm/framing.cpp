#include "engine/comm/framing.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/comm/sockets.h"
#include "engine/comm/timeout.h"

namespace engine::comm {
namespace {

// What has not come yet takes no memory.
constexpr size_t kGrowth = size_t{1} << 20;

void put(std::span<std::byte> bytes, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
}

uint32_t number_at(std::span<const std::byte> bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= std::to_integer<uint32_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

std::vector<std::byte> encode_frame(const Message& message) {
  std::vector<std::byte> frame(kFrameHeader + message.body.size());
  put(std::span(frame).first(4), message.kind);
  put(std::span(frame).subspan(4, 4), static_cast<uint32_t>(message.body.size()));
  std::copy(message.body.begin(), message.body.end(), frame.begin() + kFrameHeader);
  return frame;
}

ReadResult FrameReader::read(int socket) {
  if (head_filled_ < kFrameHeader) {
    const ReadResult head = fill(socket, head_, head_filled_);
    if (head != ReadResult::kComplete) return head;
  }
  const size_t length = number_at(std::span(head_).last(4));
  if (length > longest_) return ReadResult::kTooLong;
  while (body_filled_ < length) {
    message_.body.resize(std::min(length, body_filled_ + kGrowth));
    const ReadResult body = fill(socket, message_.body, body_filled_);
    if (body != ReadResult::kComplete) return body;
  }
  message_.kind = number_at(head_);
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
