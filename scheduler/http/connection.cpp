#include "scheduler/http/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace scheduler::api {
namespace {

// At one go, so that a client that sends without end leaves time for the others.
constexpr int kPieces = 16;
constexpr size_t kPiece = 16384;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

bool must_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Connection::Progress Connection::read(size_t largest_body) {
  std::array<char, kPiece> piece;
  for (int i = 0; i < kPieces; ++i) {
    const size_t before = files_.size();
    const Received got = receive_with_files(socket_.get(), piece.data(), piece.size(), files_);
    if (got.bytes < 0 && must_wait()) return Progress::kWaits;
    if (got.bytes <= 0) return Progress::kGone;
    files_received_ += files_.size() - before;
    files_lost_ = files_lost_ || got.files_lost || files_.size() > kMostFilesPassed;
    const Progress progress = take({piece.data(), static_cast<size_t>(got.bytes)}, largest_body);
    if (progress != Progress::kWaits) return progress;
  }
  return Progress::kWaits;
}

Connection::Progress Connection::take(std::string_view bytes, size_t largest_body) {
  const size_t known = received_.size();
  received_ += bytes;
  const bool head_was_whole = head_length_ != 0;
  if (!head_was_whole) {
    head_length_ = head_length(received_, known);
    if (head_length_ == 0) return Progress::kWaits;
    head_ = parse_head(std::string_view(received_).substr(0, head_length_), largest_body);
  }
  request_is_whole_ = received_.size() - head_length_ >= head_.body_bytes;
  if (request_is_whole_) {
    phase_ = Phase::kQueued;
    return Progress::kDone;
  }
  if (head_was_whole) return Progress::kWaits;
  // Nothing was written before, so that these few bytes have room.
  if (head_.wants_continue) {
    ::send(socket_.get(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
  }
  return Progress::kHead;
}

Request Connection::take_request() {
  phase_ = Phase::kRunning;
  received_.resize(head_length_ + head_.body_bytes);
  received_.erase(0, head_length_);
  return {.method = std::move(head_.method),
          .path = std::move(head_.path),
          .query = std::move(head_.query),
          .body = std::move(received_),
          .peer = peer_,
          .files = files_lost_ ? std::vector<Descriptor>() : take_files(),
          .files_lost = files_lost_};
}

void Connection::start_answer(std::string text) {
  phase_ = Phase::kWriting;
  answer_ = std::move(text);
  received_ = {};
}

std::vector<Descriptor> Connection::take_files() { return std::exchange(files_, {}); }

std::vector<Descriptor> Connection::take_descriptors() {
  ::shutdown(socket_.get(), SHUT_RDWR);
  std::vector<Descriptor> all = take_files();
  all.push_back(std::move(socket_));
  return all;
}

Connection::Progress Connection::write() {
  while (written_ < answer_.size()) {
    const ssize_t sent =
        ::send(socket_.get(), answer_.data() + written_, answer_.size() - written_, MSG_NOSIGNAL);
    if (sent < 0) return must_wait() ? Progress::kWaits : Progress::kGone;
    written_ += static_cast<size_t>(sent);
  }
  answer_ = {};
  if (request_is_whole_) return Progress::kDone;
  ::shutdown(socket_.get(), SHUT_WR);
  phase_ = Phase::kDraining;
  return Progress::kWaits;
}

Connection::Progress Connection::drain() {
  std::array<char, kPiece> piece;
  for (int i = 0; i < kPieces; ++i) {
    // Files are taken, too: the kernel closes at once what it has no room for.
    const Received got = receive_with_files(socket_.get(), piece.data(), piece.size(), files_);
    if (got.bytes < 0 && must_wait()) return Progress::kWaits;
    if (got.bytes <= 0) return Progress::kGone;
  }
  return Progress::kWaits;
}

std::vector<Descriptor> turn_away(Descriptor socket, const std::string& answer) {
  ::send(socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  std::vector<Descriptor> left;
  std::array<char, 4096> unread;
  for (int i = 0; i < 16; ++i) {
    if (receive_with_files(socket.get(), unread.data(), unread.size(), left).bytes <= 0) break;
  }
  ::shutdown(socket.get(), SHUT_RDWR);
  left.push_back(std::move(socket));
  return left;
}

}  // namespace scheduler::api
