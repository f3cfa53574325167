#include "engine/io/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Duration, WhatIsNoLengthOfTimeIsRefusedWithTheOption) {
  EXPECT_EQ(parse_duration("1.5h", "--every").count(), 5400000);
  for (const std::string text : {"", "10", "soon"}) {
    EXPECT_THAT(
        [&] { parse_duration(text, "--every"); },
        ThrowsMessage<UsageError>(AllOf(HasSubstr("--every"), HasSubstr("'" + text + "'"))));
  }
}

}  // namespace
}  // namespace engine
