#include "base/base64.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace base {
namespace {

TEST(Base64, AnyBytesComeBack) {
  for (size_t length = 0; length < 40; ++length) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(i * 37 + 250);
    EXPECT_EQ(from_base64(base64(bytes)), bytes) << length;
  }
  EXPECT_EQ(base64("Margay"), "TWFyZ2F5");
  EXPECT_EQ(base64("Marga"), "TWFyZ2E=");
}

TEST(Base64, WhatIsNotBase64IsRefused) {
  for (const char* text : {"abc", "ab=c", "====", "a===", "a b="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

TEST(Base64, OfWebTokensHasOtherLettersAndNeedsNoPadding) {
  EXPECT_EQ(from_base64url("-_8"), "\xFB\xFF");
  EXPECT_EQ(from_base64url("-_8="), "\xFB\xFF");
  EXPECT_EQ(from_base64url(""), "");
  for (const char* text : {"+/8", "a", "a b", "ab\n"}) {
    EXPECT_EQ(from_base64url(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace base
