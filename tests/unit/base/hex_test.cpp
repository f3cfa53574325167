#include "base/hex.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(HexOf, EveryByteIsTwoLowerCaseDigits) {
  EXPECT_EQ(hex_of(""), "");
  EXPECT_EQ(hex_of({"\0\x0f\x7f\x80\xff", 5}), "000f7f80ff");
}

}  // namespace
}  // namespace base
