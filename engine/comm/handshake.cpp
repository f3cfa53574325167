#include "engine/comm/handshake.h"

#include <algorithm>
#include <utility>

namespace engine::comm {
namespace {

constexpr uint32_t kVersion = 1;
// Kinds of message that nothing else begins with by chance.
constexpr uint32_t kHello = 0x69a7c0d1, kReply = 0x69a7c0d2, kConfirmation = 0x69a7c0d3;

class Writer {
 public:
  explicit Writer(uint32_t kind) { message_.kind = kind; }
  Writer& number(uint32_t value) {
    for (int i = 0; i < 4; ++i) {
      message_.body.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
    return *this;
  }
  Writer& text(const std::string& value) {
    number(static_cast<uint32_t>(value.size()));
    for (const char c : value) message_.body.push_back(static_cast<std::byte>(c));
    return *this;
  }
  Message take() { return std::move(message_); }

 private:
  Message message_;
};

class Reader {
 public:
  explicit Reader(const Message& message) : body_(message.body) {}
  uint32_t number() {
    uint32_t value = 0;
    good_ = good_ && body_.size() - at_ >= 4;
    if (!good_) return 0;
    for (int i = 0; i < 4; ++i) value |= std::to_integer<uint32_t>(body_[at_++]) << (8 * i);
    return value;
  }
  std::string text() {
    const size_t length = number();
    good_ = good_ && body_.size() - at_ >= length;
    std::string value;
    for (size_t i = 0; good_ && i < length; ++i) {
      value.push_back(static_cast<char>(std::to_integer<unsigned char>(body_[at_++])));
    }
    return value;
  }
  bool good() const { return good_; }
  bool all_read() const { return good_ && at_ == body_.size(); }

 private:
  const std::vector<std::byte>& body_;
  size_t at_ = 0;
  bool good_ = true;
};

}  // namespace

Message message_of(const Hello& hello) {
  return Writer(kHello)
      .number(kVersion)
      .number(static_cast<uint32_t>(hello.rank))
      .text(hello.nonce)
      .text(hello.host)
      .take();
}

std::optional<Hello> parse_hello(const Message& message) {
  if (message.kind != kHello) return std::nullopt;
  Reader reader(message);
  Hello hello{.version = reader.number()};
  if (!reader.good()) return std::nullopt;
  if (hello.version != kVersion) return hello;
  hello.rank = static_cast<int>(reader.number());
  hello.nonce = reader.text();
  hello.host = reader.text();
  if (!reader.all_read()) return std::nullopt;
  return hello;
}

Message message_of(const Reply& reply) {
  return Writer(kReply)
      .number(static_cast<uint32_t>(reply.verdict))
      .text(reply.nonce)
      .text(reply.host)
      .text(reply.words)
      .take();
}

std::optional<Reply> parse_reply(const Message& message) {
  if (message.kind != kReply) return std::nullopt;
  Reader reader(message);
  const uint32_t verdict = reader.number();
  Reply reply{.verdict = static_cast<Verdict>(verdict),
              .nonce = reader.text(),
              .host = reader.text(),
              .words = reader.text()};
  if (!reader.all_read() || verdict > static_cast<uint32_t>(Verdict::kTaken)) return std::nullopt;
  return reply;
}

Message confirmation() { return {.kind = kConfirmation, .body = {}}; }

bool is_confirmation(const Message& message) {
  return message.kind == kConfirmation && message.body.empty();
}

Reply reply_to(const Hello& hello, const std::string& nonce, int size) {
  if (hello.version != kVersion) {
    return {.verdict = Verdict::kOtherVersion,
            .words = "rank 0 is another version of margay-engine: run the same on every host"};
  }
  if (hello.nonce != nonce) {
    return {.verdict = Verdict::kOtherRun, .words = "rank 0 of another run listens here"};
  }
  if (hello.rank < 1 || hello.rank >= size) {
    return {.verdict = Verdict::kOutOfRange,
            .nonce = nonce,
            .words = "rank 0 waits for the ranks 1 to " + std::to_string(size - 1) +
                     ", and this is rank " + std::to_string(hello.rank) +
                     ": say the same number of ranks to all"};
  }
  return {.nonce = nonce};
}

}  // namespace engine::comm
