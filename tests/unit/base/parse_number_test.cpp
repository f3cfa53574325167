#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace base {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<int>("12"), 12);
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500);
  for (const char* text : {"", " 12", "12 ", "+12", "12x", "0x12", "1.5", "nan"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
}

TEST(ParseNumber, RefusesANumberThatDoesNotFit) {
  EXPECT_EQ(parse_number<int8_t>("127"), 127);
  EXPECT_EQ(parse_number<int8_t>("128"), std::nullopt);
  EXPECT_EQ(parse_number<uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<int64_t>("9223372036854775808"), std::nullopt);
}

}  // namespace
}  // namespace base
