#include "base/slurm_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

TEST(HostList, NamesEveryHostInItsOrder) {
  EXPECT_THAT(hosts_in("n01"), Optional(ElementsAre("n01")));
  EXPECT_THAT(hosts_in("n[01-03,7],other"),
              Optional(ElementsAre("n01", "n02", "n03", "n7", "other")));
  EXPECT_THAT(hosts_in("n[9-11]-ib"), Optional(ElementsAre("n9-ib", "n10-ib", "n11-ib")));
  EXPECT_THAT(hosts_in("rack[01-02]node[007,012]-ib"),
              Optional(ElementsAre("rack01node007-ib", "rack01node012-ib", "rack02node007-ib",
                                   "rack02node012-ib")));
  EXPECT_THAT(hosts_in("gpu-2.cluster.org"), Optional(ElementsAre("gpu-2.cluster.org")));
  EXPECT_THAT(hosts_in("r[1-2]b[0-1]"), Optional(ElementsAre("r1b0", "r1b1", "r2b0", "r2b1")));
  EXPECT_THAT(hosts_in(""), Optional(IsEmpty()));
  EXPECT_THAT(hosts_in("n[1-65536]"), Optional(SizeIs(65'536)));
}

TEST(HostList, OfAnotherShapeNamesNone) {
  for (const char* text : {"n[1-3", "n1-3]", "n[]", "n[3-1]", "n[a-b]", "n[1-3:2]", "a,,b", "n[-]",
                           "n[1-65537]", "a[1-1000]b[1-1000]", "n[1-99999999999999999999]"}) {
    EXPECT_EQ(hosts_in(text), std::nullopt) << text;
  }
}

TEST(ArrayTasks, AreCounted) {
  EXPECT_EQ(tasks_in("0-99%10"), 100);
  EXPECT_EQ(tasks_in("[1,3,10-20:2]"), 8);
  EXPECT_EQ(tasks_in("7"), 1);
  EXPECT_EQ(tasks_in("1,3,5,..."), 3) << "what Slurm has cut off is not known";
  EXPECT_EQ(tasks_in("nonsense"), 1);
  EXPECT_EQ(tasks_in("0-4000000000"), 1'000'000);
}

TEST(CountOfHost, RepetitionsAreCounted) {
  EXPECT_EQ(count_of_host("4", 0), 4);
  EXPECT_EQ(count_of_host("4(x2),3", 0), 4);
  EXPECT_EQ(count_of_host("4(x2),3", 1), 4);
  EXPECT_EQ(count_of_host("4(x2),3", 2), 3);
  EXPECT_EQ(count_of_host("3,1", 1), 1);
}

TEST(CountOfHost, NothingIsSaidOfAHostThatIsNotInTheList) {
  EXPECT_EQ(count_of_host("4(x2),3", 3), std::nullopt);
  EXPECT_EQ(count_of_host("4", 1), std::nullopt);
}

TEST(CountOfHost, WhatIsNoListOfCountsSaysNothing) {
  for (const char* list : {"", "x", "4(x", "4(x2", "4(xa)", "-4", "4;3"}) {
    EXPECT_EQ(count_of_host(list, 1), std::nullopt) << list;
  }
}

}  // namespace
}  // namespace base
