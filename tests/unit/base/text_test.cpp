#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace base {
namespace {

using testing::ElementsAre;

TEST(Text, HasOnePartMoreThanSeparators) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, IsJoinedAsItWasSplit) {
  for (const char* text : {"a,b,c", ",a", "a,", ",", ""}) {
    EXPECT_EQ(joined(split(text, ','), ","), text);
  }
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
}

TEST(Text, OffersAlternativesAsASentenceDoes) {
  EXPECT_EQ(alternatives({"cpu", "gpu", "node"}), "cpu, gpu or node");
  EXPECT_EQ(alternatives({"rest", "cli"}), "rest or cli");
  EXPECT_EQ(alternatives({"one"}), "one");
  EXPECT_EQ(alternatives({}), "");
}

TEST(Text, LosesTheBlanksAtItsEndsAlone) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed("\na\n", " "), "\na\n");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(Text, ChangesTheCaseOfAsciiAlone) {
  EXPECT_EQ(upper("aZ-\xc3\xa4"), "AZ-\xc3\xa4");
  EXPECT_EQ(lower("aZ-\xc3\x84"), "az-\xc3\x84");
}

TEST(Text, IsANumberOnlyWithADigit) {
  EXPECT_TRUE(is_digits("0123456789"));
  EXPECT_FALSE(is_digits(""));
  EXPECT_FALSE(is_digits("-1"));
}

TEST(GroupedNumber, HasACommaBeforeEveryThirdDigit) {
  EXPECT_EQ(grouped_number(0), "0");
  EXPECT_EQ(grouped_number(999), "999");
  EXPECT_EQ(grouped_number(1000), "1,000");
  EXPECT_EQ(grouped_number(-123456), "-123,456");
  EXPECT_EQ(grouped_number(17429280), "17,429,280");
  EXPECT_EQ(counted(3000, "rank"), "3,000 ranks");
}

TEST(RateText, IsRoundedToThreeDigitsOrAWholeNumber) {
  for (const double none : {0.0, -1.0, std::nan("")}) EXPECT_EQ(rate_text(none), "0");
  EXPECT_EQ(rate_text(0.01234), "0.0123");
  EXPECT_EQ(rate_text(6.3), "6.3");
  EXPECT_EQ(rate_text(99.4), "99.4");
  EXPECT_EQ(rate_text(99.96), "100");
  EXPECT_EQ(rate_text(630.4), "630");
  EXPECT_EQ(rate_text(1689.7), "1,690");
  EXPECT_EQ(rate_text(1e300), "1,000,000,000,000,000");
}

}  // namespace
}  // namespace base
