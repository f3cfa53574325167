#include "base/size_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/parse_size.h"

namespace base {
namespace {

TEST(Sizes, AreInUnitsThatPeopleRead) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(16777216), "16.8 MB");
  EXPECT_EQ(size_text(1'600'000'000), "1.6 GB");
  EXPECT_EQ(size_text(1'234'567'000'000'000), "1234.6 TB");
}

TEST(Sizes, WhatIsNeededIsRoundedUpAndWhatIsFreeDown) {
  EXPECT_EQ(megabytes_needed(0), "0 MB");
  EXPECT_EQ(megabytes_needed(1), "1 MB");
  EXPECT_EQ(megabytes_needed(1'234'000'000), "1,234 MB");
  EXPECT_EQ(megabytes_needed(1'234'000'001), "1,235 MB");
  EXPECT_EQ(megabytes_free(1'234'999'999), "1,234 MB");
  EXPECT_EQ(megabytes_needed(std::numeric_limits<uint64_t>::max()), "18,446,744,073,710 MB");
}

TEST(Sizes, AreReadAsTheyAreWritten) {
  EXPECT_EQ(parse_size("7 B"), 7);
  EXPECT_EQ(parse_size("12kB"), 12'000);
  EXPECT_EQ(parse_size("800MB"), 800'000'000);
  EXPECT_EQ(parse_size("1.5 TB"), 1'500'000'000'000);
  EXPECT_EQ(parse_size("0GB"), 0);
  for (const char* text : {"", "5", "TB", "-1GB", "1 GiB", "1gb", "1e3GB", "1  GB", "1GB ", "nanGB",
                           "inf TB", "9999999999TB"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
  EXPECT_EQ(invalid_size("4 tons"), "invalid size '4 tons'; write for example 800MB, 500GB or 4TB");
}

}  // namespace
}  // namespace base
