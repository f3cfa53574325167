#include "base/size_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Sizes, AreInUnitsThatPeopleRead) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(16777216), "16.8 MB");
  EXPECT_EQ(size_text(1'600'000'000), "1.6 GB");
  EXPECT_EQ(size_text(1'234'567'000'000'000), "1234.6 TB");
}

}  // namespace
}  // namespace base
