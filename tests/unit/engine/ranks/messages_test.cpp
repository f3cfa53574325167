#include "engine/ranks/messages.h"

#include <gtest/gtest.h>

#include <random>
#include <variant>
#include <vector>

namespace engine {
namespace {

TEST(RankMessages, ArriveAsTheyWereSent) {
  const Order order{.kind = OrderKind::kMerge,
                    .chunk = {{3, 9}, {12, 13}},
                    .round = 4,
                    .participants = {0, 2, 5},
                    .stopped = true};
  EXPECT_EQ(std::get<Order>(decode(encode(order))), order);
  const auto failed = std::get<Failed>(decode(encode(Failed{70, "no\nmemory"})));
  EXPECT_EQ(failed.code, 70);
  EXPECT_EQ(failed.what, "no\nmemory");
  const auto entry = std::get<StoreEntry>(decode(encode(StoreEntry{"name", {'a', '\0', 'b'}})));
  EXPECT_EQ(entry.value, (std::vector<char>{'a', '\0', 'b'}));
  EXPECT_EQ(std::get<DeviceClaim>(decode(encode(DeviceClaim{"GPU-1"}))).identity, "GPU-1");
  const auto ready = std::get<Ready>(decode(encode(Ready{16, "cpu", "fp32"})));
  EXPECT_EQ(ready.batch, 16);
  EXPECT_EQ(ready.device, "cpu");
  EXPECT_EQ(ready.signature, "fp32");
  EXPECT_EQ(std::get<Start>(decode(encode(Start{"gloo"}))).communicator, "gloo");
  EXPECT_TRUE(std::holds_alternative<Heartbeat>(decode(encode(Heartbeat{}))));
  EXPECT_TRUE(std::holds_alternative<StopRequest>(decode(encode(StopRequest{}))));
}

TEST(RankMessages, CutOrChangedBytesAreRefusedOrMeanSomethingElseButNeverCrash) {
  std::mt19937 random(3);
  const std::vector<RankMessage> messages{
      Order{.kind = OrderKind::kWork, .chunk = {{0, 7}}, .participants = {0, 1}},
      Failed{64, "text"}, StoreEntry{"n", {'v'}}, WorkRequest{3, 1.5}};
  for (const RankMessage& message : messages) {
    for (int i = 0; i < 2000; ++i) {
      comm::Message bytes = encode(message);
      if (random() % 2 == 0) {
        bytes.body.resize(random() % (bytes.body.size() + 1));
      } else {
        bytes.body[random() % bytes.body.size()] = static_cast<std::byte>(random());
      }
      if (random() % 8 == 0) bytes.kind = static_cast<uint32_t>(random() % 13);
      try {
        decode(bytes);
      } catch (const MalformedMessage& e) {
        EXPECT_STRNE(e.what(), "");
      }
    }
  }
}

}  // namespace
}  // namespace engine
