// What two ranks say before a connection between them counts. Pure.
#pragma once

#include <optional>
#include <string>

#include "engine/comm/message.h"

namespace engine::comm {

constexpr size_t kMaxHandshake = 4096;

// The joiner begins.
struct Hello {
  uint32_t version = 0;  // of what follows; the rest is unknown where it is not ours
  int rank = 0;
  std::string nonce;
  std::string host;
};
Message message_of(const Hello& hello);
// Nothing for what is no hello of any version.
std::optional<Hello> parse_hello(const Message& message);

// Rank 0 answers.
enum class Verdict : uint32_t { kWelcome, kOtherVersion, kOtherRun, kOutOfRange, kTaken };
struct Reply {
  Verdict verdict = Verdict::kWelcome;
  std::string nonce;  // rank 0's, which only a rank of this very run is told
  std::string host;
  std::string words;
};
Message message_of(const Reply& reply);
std::optional<Reply> parse_reply(const Message& message);

// The joiner has heard that it is welcome: it did not give up waiting before.
Message confirmation();
bool is_confirmation(const Message& message);

// What rank 0 of `nonce` and `size` ranks says to a hello, who is taken aside.
Reply reply_to(const Hello& hello, const std::string& nonce, int size);

}  // namespace engine::comm
