#include "base/json_nesting.h"

#include <gtest/gtest.h>

#include <string>

namespace base {
namespace {

TEST(JsonNesting, CountsTheListsAndObjectsThatAreOpen) {
  EXPECT_FALSE(nests_deeper("", 0));
  EXPECT_FALSE(nests_deeper("7", 0));
  EXPECT_TRUE(nests_deeper("[]", 0));
  EXPECT_FALSE(nests_deeper(R"({"a": [1], "b": [2]})", 2));
  EXPECT_TRUE(nests_deeper(R"({"a": [{}]})", 2));
  EXPECT_TRUE(nests_deeper(std::string(120'000, '[')));
}

TEST(JsonNesting, BracketsInTextCountForNothing) {
  EXPECT_FALSE(nests_deeper(R"(["[[[", "\"[[[", "\\"])", 1));
  EXPECT_TRUE(nests_deeper(R"(["\\", [[]]])", 2));
}

TEST(JsonNesting, ATextThatEndsInTheMiddleIsCountedToItsEnd) {
  EXPECT_FALSE(nests_deeper("[\"[[\\", 1));
  EXPECT_FALSE(nests_deeper("]]]]", 0));
}

}  // namespace
}  // namespace base
