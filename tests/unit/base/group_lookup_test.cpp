#include "base/group_lookup.h"

#include <grp.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

namespace base {
namespace {

TEST(LookUpGroup, FindsItByNameAndByNumber) {
  const ::group* root = ::getgrgid(0);
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(look_up_group(root->gr_name).number, 0U);
  EXPECT_EQ(look_up_group("#65533").number, 65533U);
  EXPECT_EQ(look_up_group("no-such-group").number, std::nullopt);
  EXPECT_EQ(look_up_group("no-such-group").error, 0);
  EXPECT_EQ(look_up_group("#x").number, std::nullopt);
  EXPECT_EQ(look_up_group("").number, std::nullopt);
}

TEST(LookUpGroup, AProblemSaysWhetherThereIsNoneOrNobodyKnows) {
  EXPECT_EQ(problem_of({}, "lab"), "there is no group 'lab' on this machine");
  EXPECT_EQ(problem_of({.error = EIO}, "lab"),
            "group 'lab' cannot be looked up now: Input/output error");
}

}  // namespace
}  // namespace base
