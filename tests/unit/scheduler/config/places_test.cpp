#include "scheduler/config/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using ::testing::ElementsAre;

TEST(Places, AreTheUsersOwnBeforeTheMachines) {
  const UserFolders folders{.runtime = "/run/user/7", .home = "/home/ada"};
  EXPECT_EQ(default_state(folders), "/home/ada/.local/state/margay");
  EXPECT_EQ(default_socket(folders), "/run/user/7/margay/margay.sock");
  EXPECT_THAT(sockets_to_try(folders),
              ElementsAre("/run/user/7/margay/margay.sock",
                          "/home/ada/.local/state/margay/margay.sock", "/run/margay/margay.sock"));
}

TEST(Places, FollowTheUsersFolderOfStates) {
  const UserFolders folders{.state = "/data/state", .home = "/home/ada"};
  EXPECT_EQ(default_state(folders), "/data/state/margay");
  EXPECT_EQ(default_socket(folders), "/data/state/margay/margay.sock");
}

TEST(Places, OfAUserWithoutAHomeAreTheMachinesAlone) {
  EXPECT_EQ(default_state({}), "");
  EXPECT_EQ(default_socket({}), "");
  EXPECT_THAT(sockets_to_try({}), ElementsAre("/run/margay/margay.sock"));
}

TEST(Places, OfADaemonAreAmongThoseThatAreTried) {
  for (const UserFolders& folders :
       {UserFolders{.runtime = "/r", .home = "/h"}, UserFolders{.runtime = "/r", .state = "/s"},
        UserFolders{.home = "/h"}}) {
    EXPECT_THAT(sockets_to_try(folders), ::testing::Contains(default_socket(folders)));
  }
}

}  // namespace
}  // namespace scheduler
