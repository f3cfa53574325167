#include "engine/launch/slurm_lists.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

HostList read(const std::string& list) { return read_host_list(list).value_or(HostList{}); }

TEST(HostList, TheFirstHostIsReadWithItsLeadingZeros) {
  EXPECT_EQ(read("n01").first, "n01");
  EXPECT_EQ(read("n[03-05,09]").first, "n03");
  EXPECT_EQ(read("n[9]").first, "n9");
  EXPECT_EQ(read("login,n[01-02]").first, "login");
  EXPECT_EQ(read("node[3-5,9],other").first, "node3");
  EXPECT_EQ(read("rack[01-04]node[007,012]-ib,b1").first, "rack01node007-ib");
  EXPECT_EQ(read("gpu-2.cluster.org").first, "gpu-2.cluster.org");
}

TEST(HostList, ItIsKnownWhetherThereAreOthers) {
  EXPECT_FALSE(read("n01").several);
  EXPECT_FALSE(read("n[01]").several);
  EXPECT_FALSE(read("gpu-2").several);
  EXPECT_TRUE(read("n01,n02").several);
  EXPECT_TRUE(read("n[01-02]").several);
  EXPECT_TRUE(read("n[01,07]").several);
  EXPECT_TRUE(read("r1n[2-3]").several);
}

TEST(HostList, WhatIsNoListOfHostsIsSaid) {
  for (const char* list : {"", ",n01", "n[01", "n01]", "n[]", "n[x-y]"}) {
    EXPECT_FALSE(read_host_list(list).has_value()) << list;
  }
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
}  // namespace engine
