#include "scheduler/ingest/settling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler::ingest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Settling::Time at(int seconds) { return Settling::Time() + std::chrono::seconds(seconds); }

FileLook look(const std::string& path, int64_t bytes, int64_t mtime_ns = 1) {
  return {.path = path, .bytes = bytes, .mtime_ns = mtime_ns, .inode = 7};
}

TEST(Settling, AFileIsReadyWhenItHasLookedTheSameForLongEnough) {
  Settling settling(std::chrono::seconds(5));
  EXPECT_THAT(settling.settled({look("a", 10)}, at(0)), IsEmpty());
  EXPECT_EQ(settling.waiting(), 1U);
  EXPECT_THAT(settling.settled({look("a", 20)}, at(4)), IsEmpty());
  EXPECT_THAT(settling.settled({look("a", 20)}, at(8)), IsEmpty());
  EXPECT_THAT(settling.settled({look("a", 20)}, at(9)), ElementsAre(look("a", 20)));
  EXPECT_EQ(settling.waiting(), 0U);
}

TEST(Settling, AWriteThatKeepsTheSizeIsSeenByItsTime) {
  Settling settling(std::chrono::seconds(5));
  settling.settled({look("a", 10, 1)}, at(0));
  EXPECT_THAT(settling.settled({look("a", 10, 2)}, at(6)), IsEmpty());
}

TEST(Settling, WhatWasDealtWithReturnsOnlyWhenItChanges) {
  Settling settling(std::chrono::seconds(5));
  settling.deal_with(look("a", 10));
  settling.settled({look("a", 10), look("b", 1)}, at(0));
  EXPECT_THAT(settling.settled({look("a", 10), look("b", 1)}, at(9)), ElementsAre(look("b", 1)));
  settling.settled({look("a", 11)}, at(10));
  EXPECT_THAT(settling.settled({look("a", 11)}, at(15)), ElementsAre(look("a", 11)));
}

TEST(Settling, AFileThatWasAwayOrRenamedSettlesAnew) {
  Settling settling(std::chrono::seconds(5));
  settling.settled({look("a", 10)}, at(0));
  settling.settled({look("b", 10)}, at(3));
  EXPECT_THAT(settling.settled({look("a", 10), look("b", 10)}, at(8)), ElementsAre(look("b", 10)));
}

TEST(Settling, WhatIsPostponedIsReadyAgainAfterTheSameTime) {
  Settling settling(std::chrono::seconds(5));
  settling.settled({look("a", 10)}, at(0));
  settling.settled({look("a", 10)}, at(5));
  settling.postpone("a", at(5));
  EXPECT_THAT(settling.settled({look("a", 10)}, at(9)), IsEmpty());
  EXPECT_THAT(settling.settled({look("a", 10)}, at(10)), ElementsAre(look("a", 10)));
}

}  // namespace
}  // namespace scheduler::ingest
