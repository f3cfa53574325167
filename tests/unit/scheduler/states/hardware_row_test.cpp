#include "scheduler/states/hardware_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

HardwareRow row_of(const std::vector<std::pair<std::string, int64_t>>& failures) {
  std::vector<db::HostFailure> records;
  for (const auto& [host, item] : failures) records.push_back({.host = host, .item_id = item});
  return hardware_row(records);
}

TEST(HardwareRow, ThreeHostsAreTheSitesFaultWhoeverFailedThere) {
  EXPECT_FALSE(is_site_wide(row_of({{"n1", 1}, {"n2", 1}, {"n2", 1}}), 100));
  EXPECT_TRUE(is_site_wide(row_of({{"n1", 1}, {"n2", 1}, {"n3", 1}}), 100));
}

TEST(HardwareRow, ItemsThatFailOnHostsThatCanBeAvoidedAreNoFaultOfTheSite) {
  const auto one_host = row_of({{"n1", 1}, {"n1", 2}, {"n1", 3}, {"n1", 4}});
  EXPECT_FALSE(is_site_wide(one_host, 16));
  EXPECT_FALSE(is_site_wide(one_host, 4));
  for (const int nodes : {0, 1, 2, 3}) EXPECT_TRUE(is_site_wide(one_host, nodes)) << nodes;
}

TEST(HardwareRow, OneItemThatFailsOnASmallClusterIsNoFaultOfTheSite) {
  EXPECT_FALSE(is_site_wide(row_of({{"n1", 1}, {"n1", 1}, {"n2", 1}, {"n2", 1}}), 2));
  EXPECT_FALSE(is_site_wide(row_of({{"n1", 1}, {"n1", 2}, {"n2", 2}}), 2));
}

TEST(HardwareRow, TheReasonNamesThreeHostsInTheOrderInWhichTheyFailed) {
  const auto row = row_of({{"n9", 1}, {"n10", 2}, {"n9", 2}, {"n1", 3}});
  EXPECT_THAT(row.hosts, ElementsAre("n9", "n10", "n1"));
  EXPECT_THAT(
      pause_reason_of(row, "no CUDA driver"),
      AllOf(HasSubstr("(n9, n10, n1): no CUDA driver; check the GPUs"), Not(HasSubstr("others"))));
  EXPECT_THAT(pause_reason_of(row_of({{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}}), ""),
              HasSubstr("(a, b, c and others)"));
}

}  // namespace
}  // namespace scheduler
