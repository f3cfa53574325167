// Messages on a non-blocking socket: kind and length in 4 bytes each, little-endian, then the body.
// Functions report a lost connection by their result, and throw only for a bug of our own.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/message.h"

namespace engine::comm {

std::vector<std::byte> encode_frame(const Message& message);

enum class ReadResult {
  kIncomplete,  // there is nothing more to read for now
  kComplete,    // take() returns the message
  kClosed,      // the other side has closed the connection, or it broke
  kTooLong,     // the message's header announces more bytes than are allowed
};

// Reads one message after the other. It never reads beyond the end of a message, so that another
// reader may continue with the same socket.
class FrameReader {
 public:
  explicit FrameReader(size_t longest) : longest_(longest) {}

  ReadResult read(int socket);
  Message take();
  const std::string& why() const { return why_; }  // why the connection ended

 private:
  ReadResult fill(int socket, std::span<std::byte> bytes, size_t& filled);

  size_t longest_;
  std::array<uint32_t, 2> head_{};  // kind and length
  size_t head_filled_ = 0, body_filled_ = 0;
  Message message_;
  std::string why_;
};

enum class SendResult {
  kSent,
  kStalled,  // the peer took nothing for `timeout`
  kBroken,   // the peer is gone
};
// Sends all of `bytes`. Where that fails, `why` says why.
SendResult send_all(int socket, std::span<const std::byte> bytes, std::chrono::milliseconds timeout,
                    std::string& why);

}  // namespace engine::comm
