#include "scheduler/cli/terminal/time_value.h"

#include <gtest/gtest.h>

#include <ctime>

namespace scheduler::cli {
namespace {

// 2026-11-23 20:00:00 UTC
constexpr int64_t kEvening = 1'795'464'000;

std::tm local(int64_t time) {
  const std::time_t seconds = time;
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  return fields;
}

TEST(TimeValue, ARelativeTimeCountsFromHere) {
  EXPECT_EQ(parse_time("+3h", kEvening), kEvening + 3 * 3600);
  EXPECT_EQ(parse_time("+1.5h", kEvening), kEvening + 5400);
  EXPECT_EQ(parse_time("+90s", kEvening), kEvening + 90);
}

TEST(TimeValue, ATimeOfDayIsTheNextSuchLocalOne) {
  for (const char* text : {"00:00", "08:00", "20:00", "23:59"}) {
    const auto time = parse_time(text, kEvening);
    ASSERT_TRUE(time) << text;
    EXPECT_GT(*time, kEvening) << text;
    EXPECT_LE(*time, kEvening + 25 * 3600) << text;
  }
  EXPECT_EQ(local(parse_time("08:30", kEvening).value()).tm_hour, 8);
  EXPECT_EQ(local(parse_time("08:30", kEvening).value()).tm_min, 30);
  EXPECT_EQ(local(parse_time("08:30:20", kEvening).value()).tm_sec, 20);
}

TEST(TimeValue, ADateIsLocalUnlessItSaysUtc) {
  EXPECT_EQ(parse_time("2026-11-24T08:00Z", kEvening), kEvening + 12 * 3600);
  EXPECT_EQ(parse_time("2026-11-24 08:00:30Z", kEvening), kEvening + 12 * 3600 + 30);
  EXPECT_EQ(parse_time("2020-01-01T00:00Z", kEvening), 1'577'836'800) << "of the past";
  const std::tm fields = local(parse_time("2026-11-24T08:00", kEvening).value());
  EXPECT_EQ(fields.tm_mday, 24);
  EXPECT_EQ(fields.tm_hour, 8);
}

TEST(TimeValue, WhatIsNoTimeIsRefused) {
  for (const char* text : {"", "soon", "+", "+3", "+-3h", "3h", "25:00", "08:60", "8", "08:00Z",
                           "08:00 ", "2026-11-24", "2026-02-30T08:00", "2026-13-01T08:00",
                           "2026-11-24T08:00X", "2026-11-24T08:00:61", "24.11.2026 08:00"}) {
    EXPECT_FALSE(parse_time(text, kEvening)) << text;
  }
  EXPECT_EQ(invalid_time("soon"),
            "invalid time 'soon'; write for example +3h, 08:00, 2026-11-24T08:00 or "
            "2026-11-24T07:00Z");
}

}  // namespace
}  // namespace scheduler::cli
