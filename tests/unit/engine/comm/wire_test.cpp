// The bytes of messages that a peer may cut short, lengthen or make up.
#include "engine/comm/wire.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "engine/comm/handshake.h"

namespace engine::comm {
namespace {

Message hello() { return message_of(Hello{.rank = 3, .nonce = "a run", .host = "node7"}); }

Message reply() {
  return message_of(Reply{
      .verdict = Verdict::kTaken, .nonce = "a run", .host = "node0", .words = "start it once"});
}

template <typename Number>
void put_at(Message& message, size_t offset, Number value) {
  std::memcpy(message.body.data() + offset, &value, sizeof value);
}

TEST(WireTest, ValuesComeBackInOrder) {
  WireWriter out;
  out.put(-7);
  out.put(std::string("text\0with a zero", 16));
  out.put(true);
  out.put(std::vector<double>{});
  out.put(std::vector<uint16_t>{1, 65535});
  const std::vector<std::byte> body = out.take();
  int number = 0;
  std::string text;
  bool flag = false;
  std::vector<double> none{1};
  std::vector<uint16_t> list;
  WireReader(body).get_rest(number, text, flag, none, list);
  EXPECT_EQ(number, -7);
  EXPECT_EQ(text, std::string("text\0with a zero", 16));
  EXPECT_TRUE(flag);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(list, (std::vector<uint16_t>{1, 65535}));
}

TEST(WireTest, ABodyOfAnotherLengthIsRefused) {
  WireWriter out;
  out.put(7);
  const std::vector<std::byte> body = out.take();
  int number = 0;
  int64_t longer = 0;
  EXPECT_THROW(WireReader(body).get(longer), MalformedMessage);
  EXPECT_THROW(WireReader(body).get_rest(number, number), MalformedMessage);
  EXPECT_THROW(WireReader(body).get_rest(), MalformedMessage);
}

// Nothing of the announced length is taken before it is known to be there.
TEST(WireTest, AListLongerThanTheMessageIsRefused) {
  for (const uint32_t length : {2u, 0x7fffffffu, 0xffffffffu}) {
    WireWriter out;
    out.put(length);
    out.put(uint64_t{0});
    const std::vector<std::byte> body = out.take();
    std::vector<uint64_t> list;
    EXPECT_THROW(WireReader(body).get(list), MalformedMessage) << length;
    EXPECT_TRUE(list.empty());
  }
}

TEST(HandshakeTest, ComesBackAsItWasSaid) {
  const std::optional<Hello> said = parse_hello(hello());
  ASSERT_TRUE(said);
  EXPECT_EQ(said->rank, 3);
  EXPECT_EQ(said->nonce, "a run");
  EXPECT_EQ(said->host, "node7");
  const std::optional<Reply> replied = parse_reply(reply());
  ASSERT_TRUE(replied);
  EXPECT_EQ(replied->verdict, Verdict::kTaken);
  EXPECT_EQ(replied->nonce, "a run");
  EXPECT_EQ(replied->host, "node0");
  EXPECT_EQ(replied->words, "start it once");
}

TEST(HandshakeTest, EveryPrefixOfAMessageIsNone) {
  for (size_t length = 0; length < hello().body.size(); ++length) {
    Message cut = hello();
    cut.body.resize(length);
    EXPECT_FALSE(parse_hello(cut)) << length;
  }
  for (size_t length = 0; length < reply().body.size(); ++length) {
    Message cut = reply();
    cut.body.resize(length);
    EXPECT_FALSE(parse_reply(cut)) << length;
  }
}

TEST(HandshakeTest, ALongerMessageOrOneOfAnotherKindIsNone) {
  Message longer = hello();
  longer.body.push_back(std::byte{0});
  EXPECT_FALSE(parse_hello(longer));
  longer = reply();
  longer.body.push_back(std::byte{0});
  EXPECT_FALSE(parse_reply(longer));
  EXPECT_FALSE(parse_hello(reply()));
  EXPECT_FALSE(parse_reply(hello()));
  EXPECT_FALSE(parse_hello(confirmation()));
}

// The first text of each message has its length behind two numbers of 4 bytes, or behind one.
TEST(HandshakeTest, ATextThatAnnouncesFourGigabytesIsNone) {
  for (const uint32_t length : {0xffffffffu, 0x80000000u, uint32_t{1} << 20}) {
    Message message = hello();
    put_at(message, 8, length);
    EXPECT_FALSE(parse_hello(message)) << length;
    message = reply();
    put_at(message, 4, length);
    EXPECT_FALSE(parse_reply(message)) << length;
  }
}

TEST(HandshakeTest, OfAnotherVersionOnlyThatIsKnown) {
  const uint32_t ours = parse_hello(hello())->version;
  for (const uint32_t version : {ours + 1, 0u, std::numeric_limits<uint32_t>::max()}) {
    Message message = hello();
    put_at(message, 0, version);
    message.body.resize(5);  // what follows is that version's own
    const std::optional<Hello> said = parse_hello(message);
    ASSERT_TRUE(said) << version;
    EXPECT_EQ(said->version, version);
    EXPECT_EQ(said->nonce, "");
    const Reply answer = reply_to(*said, "a run", 8);
    EXPECT_EQ(answer.verdict, Verdict::kOtherVersion);
    EXPECT_EQ(answer.nonce, "") << "a nonce is for ranks of the same run alone";
  }
}

TEST(HandshakeTest, AVerdictThatThereIsNotIsNoReply) {
  Message message = reply();
  put_at(message, 0, static_cast<uint32_t>(Verdict::kTaken) + 1);
  EXPECT_FALSE(parse_reply(message));
}

}  // namespace
}  // namespace engine::comm
