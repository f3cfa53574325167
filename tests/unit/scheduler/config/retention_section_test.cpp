#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/config/config_reader.h"
#include "scheduler/config/retention.h"

namespace scheduler {
namespace {

using db::Priority;
using std::chrono::hours;
using testing::AllOf;
using testing::HasSubstr;

Retention parsed(const std::string& section) {
  return parse_config("retention: " + section + "\n", "margayd.yaml").retention;
}

std::string refusal_of_retention(const std::string& section) {
  try {
    parsed(section);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(RetentionSection, SaysHowLongAndHowMuchIsKept) {
  const Retention retention = parsed(
      "{age: 180d, classes: {low: 30d, urgent: never}, total: 4TB, results: remove, history: "
      "730d}");
  EXPECT_EQ(retention.age, hours(24 * 180));
  EXPECT_EQ(retention.age_of(Priority::kHigh), hours(24 * 180));
  EXPECT_EQ(retention.age_of(Priority::kLow), hours(24 * 30));
  EXPECT_TRUE(retention.keeps_for_ever(Priority::kUrgent));
  EXPECT_FALSE(retention.keeps_for_ever(Priority::kNormal));
  EXPECT_EQ(retention.total, 4'000'000'000'000);
  EXPECT_TRUE(retention.results);
  EXPECT_EQ(retention.history, hours(24 * 730));
}

TEST(RetentionSection, KeepsEverythingWithoutItAndResultsUnlessItSaysSo) {
  const Retention none = parse_config("state: /s\n", "margayd.yaml").retention;
  EXPECT_FALSE(none.removes_items());
  EXPECT_FALSE(none.history);
  EXPECT_FALSE(parsed("{age: 1d}").results);
  EXPECT_FALSE(parsed("{age: never, history: never}").removes_items());
}

TEST(RetentionSection, IsRefusedByItsKeyAndWhatToWrite) {
  EXPECT_THAT(refusal_of_retention("{age: soon}"),
              AllOf(HasSubstr("'margayd.yaml' line 1: retention.age"),
                    HasSubstr("invalid duration 'soon'"), HasSubstr("or never")));
  EXPECT_THAT(refusal_of_retention("{age: 0s}"), HasSubstr("must be at least 1s, or never"));
  EXPECT_THAT(refusal_of_retention("{age: 100ms}"), HasSubstr("must be at least 1s"));
  EXPECT_THAT(refusal_of_retention("{age: -1d}"), HasSubstr("invalid duration"));
  EXPECT_THAT(
      refusal_of_retention("{total: 4}"),
      AllOf(HasSubstr("retention.total"), HasSubstr("invalid size '4'"), HasSubstr("for example")));
  EXPECT_THAT(refusal_of_retention("{classes: {bulk: 3d}}"), HasSubstr("bulk"));
  EXPECT_THAT(refusal_of_retention("{classes: {low: {age: 3d}}}"),
              HasSubstr("retention.classes.low"));
  EXPECT_THAT(refusal_of_retention("{results: all}"),
              HasSubstr("must be keep or remove, not 'all'"));
  EXPECT_THAT(refusal_of_retention("{ages: 3d}"), HasSubstr("ages"));
  EXPECT_THAT(refusal_of_retention("30d"), HasSubstr("retention"));
}

}  // namespace
}  // namespace scheduler
