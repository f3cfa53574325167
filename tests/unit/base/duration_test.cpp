#include "base/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace base {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(Duration, EveryUnitIsRead) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("90s"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("10m"), milliseconds(600'000));
  EXPECT_EQ(parse_duration("1h"), milliseconds(3'600'000));
  EXPECT_EQ(parse_duration("1.5h"), milliseconds(5'400'000));
  EXPECT_EQ(parse_duration("30d"), milliseconds(2'592'000'000));
  EXPECT_EQ(parse_duration("0s"), milliseconds(0));
}

TEST(Duration, WhatIsNoLengthOfTimeIsNothing) {
  for (const char* text :
       {"", "5", "s", "m", "-1s", "-5s", "1 s", "10 m", "1w", "1e3s", "nan s", "nans", "inf",
        "infs", "99999999999999h", "99999999999999999999s", "5sx"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_THAT(invalid_duration("soon"), HasSubstr("invalid duration 'soon'; write"));
}

TEST(DurationText, ShowsTheTwoLargestUnits) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(61), "1 min 01 s");
  EXPECT_EQ(duration_text(3725), "1 h 02 min");
  EXPECT_EQ(duration_text(3 * 86400 + 4 * 3600), "3 d 4 h");
  EXPECT_EQ(duration_text(-5), "0 s");
  EXPECT_EQ(duration_text(std::nan("")), "0 s");
  EXPECT_EQ(duration_text(1e300), "11574 d 1 h") << "30 years";
}

}  // namespace
}  // namespace base
