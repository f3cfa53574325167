// The worked examples of docs/policy.md.
#include "scheduler/forecast/choose_width.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

constexpr ClassRules kLow{.least_efficiency = 0.98, .cap_gpus = 1, .deadline_cap_gpus = 4};
constexpr ClassRules kNormal{.least_efficiency = 0.97, .cap_gpus = 4, .deadline_cap_gpus = 4};
constexpr ClassRules kHigh{.least_efficiency = 0.80, .cap_gpus = 4, .deadline_cap_gpus = 16};
constexpr ClassRules kUrgent{
    .least_efficiency = 0.50, .cap_gpus = 64, .deadline_cap_gpus = 64, .urgent = true};

WidthQuestion question(const ClassRules& rules, int64_t ready_items, double work = kLong) {
  return {.work = work,
          .model = example_model(),
          .rules = rules,
          .menu = widths_of(4, kExampleNodes),
          .likely = idle(),
          .late = idle(),
          .usable_gpus = kExampleGpus,
          .ready_items = ready_items};
}

int gpus_for(const WidthQuestion& asked) { return choose_width(asked).value().width.gpus(); }

// Seconds until all are done, and until the first is.
struct Makespan {
  double all = 0, first = 0;
};
Makespan run_all(int items, const Width& width, ClusterForecast cluster = idle()) {
  Makespan span;
  const double seconds = run_seconds(example_model(), kLong, width);
  for (int i = 0; i < items; ++i) {
    const double done = place(cluster, width, seconds).value() + seconds;
    span.first = i == 0 ? done : std::min(span.first, done);
    span.all = std::max(span.all, done);
  }
  return span;
}

TEST(ChooseWidth, ABacklogGetsOneGpuEach) {
  for (const ClassRules& rules : {kLow, kNormal, kHigh}) {
    EXPECT_EQ(gpus_for(question(rules, 500)), 1);
    EXPECT_EQ(gpus_for(question(rules, kExampleGpus)), 1) << "as many items as GPUs";
  }
  const Makespan narrow = run_all(500, {});
  EXPECT_NEAR(narrow.all / kHour, 128.1, 0.05);
  EXPECT_NEAR(narrow.first / kHour, 16.0, 0.05);
  EXPECT_NEAR(500 * run_seconds(example_model(), kLong, {}) / kHour, 8005, 0.5);
  const Makespan node = run_all(500, {.gpus_per_node = 4});
  EXPECT_NEAR(node.all / kHour, 129.6, 0.05);
  EXPECT_NEAR(node.first / kHour, 4.1, 0.05);
  EXPECT_NEAR(500 * 4 * run_seconds(example_model(), kLong, {.gpus_per_node = 4}) / kHour, 8102,
              0.5);
  const Width partition{.nodes = kExampleNodes, .gpus_per_node = 4};
  EXPECT_NEAR(run_all(500, partition).all / kHour, 139.0, 0.05);
  EXPECT_NEAR(500 * kExampleGpus * run_seconds(example_model(), kLong, partition) / kHour, 8898,
              0.5);
}

TEST(ChooseWidth, AFewItemsRunSideBySide) {
  EXPECT_EQ(gpus_for(question(kLow, 3)), 1);
  EXPECT_NEAR(run_all(3, {}).all / kHour, 16.0, 0.05);
  EXPECT_EQ(gpus_for(question(kNormal, 3)), 4);
  EXPECT_EQ(gpus_for(question(kHigh, 3)), 4);
  EXPECT_NEAR(run_all(3, {.gpus_per_node = 4}).all / kHour, 4.05, 0.005);
}

TEST(ChooseWidth, AFewUrgentItemsGetTheWholeClusterInTurn) {
  const WidthChoice choice = choose_width(question(kUrgent, 3)).value();
  EXPECT_EQ(choice.width.gpus(), kExampleGpus);
  EXPECT_EQ(choice.rule, WidthRule::kUrgent);
  const UrgentShare share =
      share_urgent(example_model(), kLong, widths_of(4, kExampleNodes), choice.width, 3);
  EXPECT_TRUE(share.in_turn);
  EXPECT_EQ(share.width, choice.width);
  const double cold = run_seconds(example_model(), kLong, choice.width);
  const double warm = run_seconds(example_model(), kLong, choice.width, Start::kWarm);
  EXPECT_DOUBLE_EQ(cold, 1001);
  EXPECT_DOUBLE_EQ(cold + warm, 1942);
  EXPECT_DOUBLE_EQ(cold + 2 * warm, 2883);
}

TEST(ChooseWidth, ShortUrgentItemsRunSideBySideWhereWideOnesWouldWasteTheGpus) {
  const double minute = 60;
  const auto menu = widths_of(4, kExampleNodes);
  const UrgentShare share = share_urgent(example_model(), minute, menu, menu.back(), 3);
  EXPECT_FALSE(share.in_turn);
  EXPECT_EQ(share.width.gpus(), 16) << "the widest entry within 64 / 3";
}

TEST(ChooseWidth, AnUrgentItemBehindLongJobsTakesTheNarrowestThatIsAlmostTheFirstDone) {
  WidthQuestion asked = question(kUrgent, 1);
  asked.likely = asked.late = at_expected_rests(16 * kHour);
  const WidthChoice choice = choose_width(asked).value();
  const std::array hours = {16.26, 11.23, 11.04, 11.98, 13.70, 16.03};
  ASSERT_EQ(choice.forecasts.size(), hours.size());
  for (size_t i = 0; i < hours.size(); ++i) {
    EXPECT_NEAR(choice.forecasts[i].done_likely / kHour, hours[i], 0.005);
  }
  EXPECT_EQ(choice.width.gpus(), 4) << "8 would be the first";
}

TEST(ChooseWidth, AnUrgentItemBehindShortSegmentsGoesWide) {
  WidthQuestion asked = question(kUrgent, 1);
  asked.likely = asked.late = at_expected_rests(kHour);
  const WidthChoice choice = choose_width(asked).value();
  const std::array hours = {16.03, 4.50, 2.62, 1.72, 1.36, 1.26};
  ASSERT_EQ(choice.forecasts.size(), hours.size());
  for (size_t i = 0; i < hours.size(); ++i) {
    EXPECT_NEAR(choice.forecasts[i].done_likely / kHour, hours[i], 0.005);
  }
  EXPECT_EQ(choice.width.gpus(), 32);
}

TEST(ChooseWidth, WithRandomRestsTheWaitsAreThoseOfTheFormula) {
  constexpr int kDraws = 4000;
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> rest(0, 1);
  const auto menu = widths_of(4, kExampleNodes);
  std::vector<std::vector<double>> waits(menu.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    ClusterForecast cluster = idle();
    for (NodeForecast& node : cluster) {
      std::generate(node.begin(), node.end(), [&] { return rest(random); });
    }
    for (size_t i = 0; i < menu.size(); ++i) {
      waits[i].push_back(earliest_start(cluster, menu[i]).value());
    }
  }
  for (size_t i = 0; i < menu.size(); ++i) {
    const double mean = std::reduce(waits[i].begin(), waits[i].end()) / kDraws;
    double squares = 0;
    for (const double wait : waits[i]) squares += (wait - mean) * (wait - mean);
    const double error = std::sqrt(squares / (kDraws - 1) / kDraws);
    const double expected = menu[i].gpus() == 1 ? 1.0 / 65 : mean_wait(menu[i].nodes);
    EXPECT_NEAR(mean, expected, 3.5 * error) << to_string(menu[i]);
  }
}

TEST(ChooseWidth, ADeadlineIsMetByTheNarrowestWidthThatIsCertainTo) {
  WidthQuestion asked = question(kUrgent, 1);
  const double late_by_a_fifth = std::exp(0.2 * 1.2816);
  asked.deadline = 250 * 60 * late_by_a_fifth;
  EXPECT_EQ(gpus_for(asked), 4) << "243 minutes";
  asked.deadline = 240 * 60 * late_by_a_fifth;
  EXPECT_EQ(gpus_for(asked), 8) << "123 minutes";
  asked.deadline = 100 * kHour;
  EXPECT_EQ(gpus_for(asked), 1) << "even an urgent item";
}

TEST(ChooseWidth, NodesThatAreOnlyExpectedBackMeetNoDeadline) {
  WidthQuestion asked = question(kUrgent, 1);
  asked.late.resize(kExampleNodes - 1);
  asked.deadline = 30 * 60;  // 16 nodes would need 17 minutes, 8 nodes 32
  const WidthChoice choice = choose_width(asked).value();
  EXPECT_EQ(choice.rule, WidthRule::kAtRisk);
  EXPECT_EQ(choice.width.gpus(), 32) << "what is done first for certain";
  asked.late.clear();
  EXPECT_TRUE(std::isinf(choose_width(asked).value().late_by));
}

TEST(ChooseWidth, ADeadlineRaisesTheCapOfItsClass) {
  const double three_hours = 3 * kHour;
  WidthQuestion asked = question(kHigh, 500);
  asked.deadline = three_hours;
  EXPECT_EQ(gpus_for(asked), 8) << "two nodes, where nothing narrower meets it";
  asked = question(kNormal, 1);
  asked.deadline = three_hours;
  const WidthChoice choice = choose_width(asked).value();
  EXPECT_EQ(choice.rule, WidthRule::kAtRisk);
  EXPECT_EQ(choice.width.gpus(), 4) << "never several nodes";
  EXPECT_NEAR(choice.late_by, bounded(14584, example_model(), kNinetyPercent) - three_hours, 1e-6);
}

TEST(ChooseWidth, TheNarrowestIsAdmissibleHoweverLittleOfItsTimeIsSpentOnTheSearch) {
  const double quarter = kHour / 4;
  const auto choice = choose_width(question(kLow, 1, quarter)).value();
  EXPECT_NEAR(choice.forecasts[0].efficiency, 0.963, 0.0005);
  EXPECT_EQ(choice.width.gpus(), 1);
}

TEST(ChooseWidth, BulkIsNeverDoneLaterForBeingWider) {
  WidthQuestion asked = question(kNormal, 1);
  for (NodeForecast& node : asked.likely) node = {0, 13 * kHour, 13 * kHour, 13 * kHour};
  EXPECT_EQ(gpus_for(asked), 1) << "a whole node is free too late";
}

TEST(ChooseWidth, WithoutAGpuThatWorksThereIsNoWidth) {
  WidthQuestion asked = question(kNormal, 1);
  asked.likely.clear();
  EXPECT_FALSE(choose_width(asked).has_value());
}

TEST(ChooseWidth, NothingButUrgencyOrADeadlineGetsSeveralNodes) {
  std::mt19937_64 random(7);
  const auto pick = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  for (int i = 0; i < 20'000; ++i) {
    const ClassRules rules = std::array{kLow, kNormal, kHigh}[static_cast<size_t>(pick(0, 2))];
    WidthQuestion asked = question(rules, pick(1, 100), pick(1, 100'000));
    for (NodeForecast& node : asked.likely) {
      for (double& gpu : node) gpu = pick(0, 1) * pick(0, 100'000);
    }
    asked.late = asked.likely;
    EXPECT_LE(gpus_for(asked), rules.cap_gpus);
    asked.deadline = pick(1, 200'000);
    const WidthChoice choice = choose_width(asked).value();
    EXPECT_LE(choice.width.gpus(), rules.deadline_cap_gpus);
    for (const WidthForecast& forecast : choice.forecasts) {
      const bool narrower = forecast.width.gpus() < choice.width.gpus();
      const bool in_time = forecast.admissible && forecast.done_late <= *asked.deadline;
      EXPECT_FALSE(narrower && in_time) << to_string(forecast.width) << " meets the deadline";
    }
  }
}

}  // namespace
}  // namespace scheduler
