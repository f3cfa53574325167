// The messages that two ranks exchange before a connection between them counts: the joiner's Hello,
// rank 0's Reply, and the joiner's confirmation, by which rank 0 knows that the joiner has not
// given up meanwhile. Pure functions; the parsers return nullopt for any other message.
#pragma once

#include <optional>
#include <string>

#include "engine/comm/message.h"

namespace engine::comm {

constexpr size_t kMaxHandshake = 4096;

struct Hello {
  uint32_t version = 0;  // of the handshake; where it is not ours, nothing below is parsed
  int rank = 0;
  std::string nonce;
  std::string host;
};
Message message_of(const Hello& hello);
std::optional<Hello> parse_hello(const Message& message);

enum class Verdict : uint32_t { kWelcome, kOtherVersion, kOtherRun, kOutOfRange, kTaken };
struct Reply {
  Verdict verdict = Verdict::kWelcome;
  std::string nonce;  // rank 0's; empty in a reply to a rank of another run
  std::string host;
  std::string words;  // why the rank is rejected
};
Message message_of(const Reply& reply);
std::optional<Reply> parse_reply(const Message& message);

Message confirmation();
bool is_confirmation(const Message& message);

// Returns rank 0's reply to a Hello in a run with this nonce and `size` ranks. The caller checks
// for duplicate ranks.
Reply reply_to(const Hello& hello, const std::string& nonce, int size);

}  // namespace engine::comm
