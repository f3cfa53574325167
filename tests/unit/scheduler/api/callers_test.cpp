#include "scheduler/api/callers.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

namespace scheduler::api {
namespace {

// A number that no user and no group of a test machine has.
constexpr uid_t kNobodys = 2'000'123'456;

TEST(Callers, TheGroupOfAUserIsThePrimaryOneByItsName) {
  const passwd* const user = ::getpwuid(::getuid());
  ASSERT_NE(user, nullptr);
  const group* const primary = ::getgrgid(user->pw_gid);
  ASSERT_NE(primary, nullptr);
  const std::string name = primary->gr_name;
  // Which group the peer's process has at the moment does not matter.
  EXPECT_EQ(caller_of({.uid = ::getuid(), .gid = kNobodys}).group(), name);
}

TEST(Callers, AGroupWithoutANameIsNamedByItsNumber) {
  EXPECT_EQ(caller_of({.uid = kNobodys, .gid = kNobodys}).group(), "#2000123456");
}

}  // namespace
}  // namespace scheduler::api
