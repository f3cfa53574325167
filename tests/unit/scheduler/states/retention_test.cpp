#include "scheduler/states/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using db::Priority;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kNow = 1'000'000;

// That ended so many seconds ago.
EndedItem item(int64_t id, int64_t age, std::optional<int64_t> bytes = std::nullopt,
               Priority priority = Priority::kNormal) {
  return {.id = id, .priority = priority, .ended = kNow - age, .bytes = bytes};
}

std::vector<int64_t> chosen(const std::vector<EndedItem>& items, const Retention& retention) {
  std::vector<int64_t> ids;
  for (const ToRemove& one : choose_to_remove(items, retention, kNow)) ids.push_back(one.item.id);
  return ids;
}

TEST(Retention, KeepsEverythingWhereNothingIsSaid) {
  EXPECT_THAT(chosen({item(1, 900'000, 1'000'000), item(2, 0, 1)}, {}), IsEmpty());
  EXPECT_FALSE(Retention().removes_items());
}

TEST(Retention, RemovesWhatEndedLongAgoTheFirstFirst) {
  const Retention retention{.age = seconds(100)};
  EXPECT_TRUE(retention.removes_items());
  EXPECT_THAT(chosen({item(1, 100), item(2, 500), item(3, 99), item(4, -50)}, retention),
              ElementsAre(2, 1));
}

TEST(Retention, AClassMayHaveAnAgeOfItsOwnOrNone) {
  const Retention retention{
      .age = seconds(100),
      .classes = {{Priority::kLow, seconds(10)}, {Priority::kUrgent, std::nullopt}}};
  EXPECT_THAT(chosen({item(1, 50), item(2, 50, 1, Priority::kLow),
                      item(3, 900, 1, Priority::kUrgent), item(4, 200, 1, Priority::kHigh)},
                     retention),
              ElementsAre(4, 2));
  EXPECT_THAT(chosen({item(1, 50), item(2, 50, 1, Priority::kLow)},
                     {.classes = {{Priority::kLow, seconds(10)}}}),
              ElementsAre(2));
}

TEST(Retention, RemovesTheOldestUntilTheOthersFit) {
  const std::vector<EndedItem> items = {item(1, 10, 40), item(2, 30, 40), item(3, 20, 40),
                                        item(4, 40, 0)};
  EXPECT_THAT(chosen(items, {.total = 120}), IsEmpty());
  EXPECT_THAT(chosen(items, {.total = 119}), ElementsAre(2)) << "4 would free nothing";
  EXPECT_THAT(chosen(items, {.total = 79}), ElementsAre(2, 3));
  EXPECT_THAT(chosen(items, {.total = 0}), ElementsAre(2, 3, 1));
}

TEST(Retention, WhatIsTooOldMakesRoomFirst) {
  const auto both = choose_to_remove({item(1, 10, 40), item(2, 300, 40), item(3, 20, 40)},
                                     {.age = seconds(100), .total = 70}, kNow);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].item.id, 2);
  EXPECT_EQ(both[0].why, WhyRemoved::kAge);
  EXPECT_EQ(both[1].item.id, 3);
  EXPECT_EQ(both[1].why, WhyRemoved::kTotal);
}

TEST(Retention, AClassThatIsKeptForEverStaysAndDrivesOutNoOther) {
  const Retention retention{.classes = {{Priority::kUrgent, std::nullopt}}, .total = 50};
  EXPECT_THAT(
      chosen({item(1, 90, 100, Priority::kUrgent), item(2, 10, 20), item(3, 20, 20)}, retention),
      IsEmpty());
  EXPECT_THAT(
      chosen({item(1, 90, 100, Priority::kUrgent), item(2, 10, 40), item(3, 20, 20)}, retention),
      ElementsAre(3));
}

TEST(Retention, NothingIsRemovedForTheTotalBeforeAllIsMeasured) {
  EXPECT_THAT(chosen({item(1, 10, 100), item(2, 20)}, {.total = 50}), IsEmpty());
  EXPECT_THAT(chosen({item(1, 10, 100), item(2, 200)}, {.age = seconds(100), .total = 50}),
              ElementsAre(2, 1))
      << "what is too old need not be measured";
}

}  // namespace
}  // namespace scheduler
