#include "engine/io/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/error.h"

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Duration, EveryUnitIsRead) {
  EXPECT_EQ(parse_duration("500ms", "--every").count(), 500);
  EXPECT_EQ(parse_duration("90s", "--every").count(), 90000);
  EXPECT_EQ(parse_duration("10m", "--every").count(), 600000);
  EXPECT_EQ(parse_duration("1.5h", "--every").count(), 5400000);
  EXPECT_EQ(parse_duration("0s", "--every").count(), 0);
}

TEST(Duration, WhatIsNoLengthOfTimeIsRefusedWithTheOption) {
  for (const std::string text :
       {"", "10", "m", "-5s", "10 m", "1d", "1e3s", "nan s", "inf", "99999999999999h", "5sx"}) {
    try {
      parse_duration(text, "--every");
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("--every"), HasSubstr("'" + text + "'")));
    }
  }
}

}  // namespace
}  // namespace engine
