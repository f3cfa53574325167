#include "base/nearest_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace base {
namespace {

using Names = std::vector<std::string>;

TEST(NearestName, IsFoundByEditDistanceWithoutRegardToCase) {
  const Names known = {"defocus_max", "defocus_min", "enabled"};
  EXPECT_EQ(nearest_name("defocus_mni", known), "defocus_min");
  EXPECT_EQ(nearest_name("Enabled", known), "enabled");
  EXPECT_EQ(nearest_name("something_else", known), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100000, 'x'), known), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}), std::nullopt);
}

TEST(NearestName, AShortNameIsNotMeantByEverything) {
  EXPECT_EQ(nearest_name("xy", {"ab"}), std::nullopt);
  EXPECT_EQ(nearest_name("slot", {"threads", "slots"}), "slots");
  EXPECT_EQ(nearest_name("foo", {"job"}), std::nullopt);
  EXPECT_EQ(nearest_name("jbo", {"job"}), "job");
}

TEST(NearestName, IsAskedForInTheMessage) {
  EXPECT_EQ(did_you_mean("partion", {"time", "partition"}), "; did you mean 'partition'?");
  EXPECT_EQ(did_you_mean("tiem", {"time", "partition"}), "; did you mean 'time'?");
  EXPECT_EQ(did_you_mean("zzzzzzzzzzzz", {"time", "partition"}), "");
  EXPECT_EQ(names_to_use("tiem", {"time", "host"}), "; did you mean 'time'? Known: time, host");
  EXPECT_EQ(names_to_use("zzzzzzzz", {"time", "host"}), "; use time, host");
}

}  // namespace
}  // namespace base
