#include "base/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace base {
namespace {

TEST(Utf8, WellFormedTextIsRecognised) {
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("Übergröße 日本語 \xF0\x9F\x94\xAC"));
  EXPECT_TRUE(is_utf8(std::string("a\0b", 3)));
}

TEST(Utf8, IllFormedTextIsRecognised) {
  for (const char* text :
       {"\x80", "\xFF", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xE6\xBC", "\xFC", "\xF8\x88\x80\x80\x80", "a\xE2\x82"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
  EXPECT_EQ(replace_invalid_utf8("gr\xFC\xDF"), "gr\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8, ACodePointIsThatOfItsSequence) {
  EXPECT_EQ(code_point("a"), 0x61U);
  EXPECT_EQ(code_point("é"), 0xE9U);
  EXPECT_EQ(code_point("漢"), 0x6F22U);
  EXPECT_EQ(code_point("😀"), 0x1F600U);
  EXPECT_EQ(utf8_sequence("漢字"), 3U);
  EXPECT_EQ(utf8_sequence(""), 0U);
}

TEST(DropCutCharacter, WhatIsCutGoesAndWhatIsWholeStays) {
  for (const std::string whole : {"a", "\u00e4", "\u20ac", "\U0001f642"}) {
    std::string text = "x" + whole;
    drop_cut_character(text);
    EXPECT_EQ(text, "x" + whole);
    for (size_t kept = 1; kept < whole.size(); ++kept) {
      text = "x" + whole.substr(0, kept);
      drop_cut_character(text);
      EXPECT_EQ(text, "x") << kept << " bytes of " << whole;
    }
  }
}

TEST(DropCutCharacter, ACutCharacterAloneStays) {
  std::string text = "\xe2\x82";
  drop_cut_character(text);
  EXPECT_EQ(text, "\xe2\x82");
}

}  // namespace
}  // namespace base
