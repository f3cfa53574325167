#include "engine/comm/handshake.h"

#include "engine/comm/wire.h"

namespace engine::comm {
namespace {

constexpr uint32_t kVersion = 1;
// Kinds of message that nothing else begins with by chance.
constexpr uint32_t kHello = 0x69a7c0d1, kReply = 0x69a7c0d2, kConfirmation = 0x69a7c0d3;

template <typename... Fields>
Message message_with(uint32_t kind, const Fields&... fields) {
  WireWriter out;
  (out.put(fields), ...);
  return {.kind = kind, .body = out.take()};
}

// What `read` makes of the body; nullopt where it is none, and for a message of another kind.
template <typename Parsed>
std::optional<Parsed> parse(const Message& message, uint32_t kind,
                            void (*read)(WireReader& in, Parsed& parsed)) {
  if (message.kind != kind) return std::nullopt;
  try {
    WireReader in(message.body);
    Parsed parsed;
    read(in, parsed);
    return parsed;
  } catch (const MalformedMessage&) {
    return std::nullopt;
  }
}

}  // namespace

Message message_of(const Hello& hello) {
  return message_with(kHello, kVersion, hello.rank, hello.nonce, hello.host);
}

std::optional<Hello> parse_hello(const Message& message) {
  return parse<Hello>(message, kHello, [](WireReader& in, Hello& hello) {
    in.get(hello.version);
    if (hello.version == kVersion) in.get_rest(hello.rank, hello.nonce, hello.host);
  });
}

Message message_of(const Reply& reply) {
  return message_with(kReply, reply.verdict, reply.nonce, reply.host, reply.words);
}

std::optional<Reply> parse_reply(const Message& message) {
  return parse<Reply>(message, kReply, [](WireReader& in, Reply& reply) {
    in.get_rest(reply.verdict, reply.nonce, reply.host, reply.words);
    if (reply.verdict > Verdict::kTaken) throw MalformedMessage("a reply of no known verdict");
  });
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
