#include "scheduler/policy/urgent_right.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

TEST(UrgentRight, EverybodyHasItUnlessTheSiteNamesSome) {
  EXPECT_TRUE(may_be_urgent(std::nullopt, "ann", {}));
  EXPECT_EQ(who_may_be_urgent(std::nullopt), "everybody");
  const UrgentAllow nobody = std::set<std::string>();
  EXPECT_FALSE(may_be_urgent(nobody, "ann", {"cryoem"}));
  EXPECT_EQ(who_may_be_urgent(nobody), "root and the daemon's user");
}

TEST(UrgentRight, IsGivenToUsersAndToGroups) {
  const UrgentAllow allow = {{"ann", "@cryoem"}};
  EXPECT_TRUE(may_be_urgent(allow, "ann", {}));
  EXPECT_TRUE(may_be_urgent(allow, "bob", {"staff", "cryoem"}));
  EXPECT_FALSE(may_be_urgent(allow, "bob", {"ann"})) << "a group of a user's name";
  EXPECT_FALSE(may_be_urgent(allow, "cryoem", {})) << "a user of a group's name";
  EXPECT_EQ(who_may_be_urgent(allow),
            "root, the daemon's user, the members of group cryoem and ann");
}

TEST(UrgentRight, AGroupHasTheTokensOfItsOwnOrThoseOfEach) {
  EXPECT_FALSE(has_tokens({}));
  const UrgentTokens tokens{.of_each = 2, .of_group = {{"cryoem", 5}, {"guests", 0}}};
  EXPECT_TRUE(has_tokens(tokens));
  EXPECT_EQ(tokens_of(tokens, "cryoem"), 5);
  EXPECT_EQ(tokens_of(tokens, "guests"), 0);
  EXPECT_EQ(tokens_of(tokens, "staff"), 2);
  EXPECT_EQ(tokens_of(tokens, ""), 0) << "a group that is not known";
}

}  // namespace
}  // namespace scheduler
