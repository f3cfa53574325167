#include "scheduler/forecast/rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace scheduler {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

FinishedSearch one_gpu(double rate) {
  return {.engine = "1.0",
          .device = "NVIDIA H200",
          .height = 4096,
          .width = 4096,
          .template_size = 384,
          .correlations = rate * 1000,
          .search_seconds = 1000,
          .serial_seconds = 20,
          .start_seconds = 15};
}

FinishedSearch on(int64_t gpus, int64_t nodes, double seconds, double rate = 356) {
  FinishedSearch search = one_gpu(rate);
  search.gpus = gpus;
  search.nodes = nodes;
  search.search_seconds = seconds;
  return search;
}

void add(Measures& known, const FinishedSearch& search) {
  for (const db::Measure& changed : learn(known, search)) {
    std::erase_if(known, [&](const db::Measure& old) {
      return old.kind == changed.kind && old.engine == changed.engine &&
             old.device == changed.device && old.height == changed.height &&
             old.width == changed.width && old.template_size == changed.template_size &&
             old.gpus == changed.gpus;
    });
    known.push_back(changed);
  }
}

SearchSize search_of(int64_t width = 4096, int64_t height = 4096) {
  return {.counts = {.engine = "1.0",
                     .orientations = 2'050'000,
                     .defocus_planes = 10,
                     .pixel_sizes = 1,
                     .template_size = 384},
          .image = {.width = width, .height = height}};
}

TEST(Rates, WorkIsCorrelationsDividedByTheRateOfPastRuns) {
  Measures known;
  for (int i = 0; i < 37; ++i) add(known, one_gpu(356 * std::exp(i % 2 == 0 ? 0.04 : -0.04)));
  const auto estimate = estimate_work(known, {}, search_of());
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->correlations, 20.5e6);
  EXPECT_NEAR(estimate->rate, 356, 1);
  EXPECT_NEAR(estimate->seconds, 20.5e6 / 356, 200);
  EXPECT_EQ(estimate->runs, 37);
  EXPECT_EQ(estimate->source, RateSource::kMeasured);
  EXPECT_EQ(describe(*estimate), "20.5 M correlations at 356/s, 37 past runs, +-4 %");
}

TEST(Rates, TheSpreadIsAFifthUntilFiveRunsAreKnown) {
  Measures known;
  for (int i = 0; i < 4; ++i) add(known, one_gpu(356));
  EXPECT_EQ(estimate_work(known, {}, search_of())->sigma, 0.2);
  add(known, one_gpu(356));
  EXPECT_NEAR(estimate_work(known, {}, search_of())->sigma, 0, 1e-9);
}

TEST(Rates, AnotherSizeIsScaledByItsPixelsFromTheNearestOne) {
  Measures known;
  add(known, one_gpu(356));
  FinishedSearch small = one_gpu(1600);
  small.height = small.width = 2048;
  add(known, small);
  const auto estimate = estimate_work(known, {}, search_of(5760, 4092));
  EXPECT_EQ(estimate->source, RateSource::kOtherSize);
  EXPECT_NEAR(estimate->rate, 356 * 4096.0 * 4096 / (5760.0 * 4092), 1e-6);
  EXPECT_EQ(estimate->sigma, 0.2);
  EXPECT_THAT(describe(*estimate), HasSubstr("scaled from 1 past run on images of 4096 x 4096"));
}

TEST(Rates, OfAnotherVersionOfTheEngineCountWhenThisOneHasNone) {
  Measures known;
  FinishedSearch old = one_gpu(300);
  old.engine = "0.9";
  add(known, old);
  const auto estimate = estimate_work(known, {}, search_of());
  EXPECT_EQ(estimate->source, RateSource::kOtherEngine);
  EXPECT_THAT(describe(*estimate), HasSubstr("of another version of the engine"));
  add(known, one_gpu(356));
  EXPECT_EQ(estimate_work(known, {}, search_of())->source, RateSource::kMeasured);
}

TEST(Rates, OfTheSiteCountWhereNothingHasRun) {
  const std::map<std::string, double> site = {{"NVIDIA H200", 400}};
  const auto estimate = estimate_work({}, site, search_of(4096, 2048));
  EXPECT_EQ(estimate->source, RateSource::kSite);
  EXPECT_NEAR(estimate->rate, 800, 1e-9);
  EXPECT_THAT(describe(*estimate), HasSubstr("at 800/s, the site's rate of 'NVIDIA H200'"));
  SearchSize on_other = search_of();
  on_other.device = "NVIDIA L40S";
  EXPECT_EQ(estimate_work({}, site, on_other)->source, RateSource::kNominal);
}

TEST(Rates, ThatNobodyKnowsAreSaidToBeNotMeasured) {
  const auto estimate = estimate_work({}, {}, search_of());
  EXPECT_EQ(estimate->source, RateSource::kNominal);
  EXPECT_GT(estimate->rate, 0);
  EXPECT_THAT(describe(*estimate), HasSubstr("/s, not measured yet"));
  SearchSize on_cores = search_of();
  on_cores.cores = 16;
  EXPECT_LT(estimate_work({}, {}, on_cores)->rate, estimate->rate);
}

TEST(Rates, OfTheDeviceThatMostSearchesRanOnCountWhereNoneIsNamed) {
  Measures known;
  FinishedSearch other = one_gpu(100);
  other.device = "NVIDIA L40S";
  add(known, other);
  for (int i = 0; i < 2; ++i) add(known, one_gpu(356));
  EXPECT_EQ(estimate_work(known, {}, search_of())->device, "NVIDIA H200");
  SearchSize named = search_of();
  named.device = "NVIDIA L40S";
  EXPECT_NEAR(estimate_work(known, {}, named)->rate, 100, 1e-6);
}

TEST(Rates, WorkWithoutCountsOrSizeIsUnknownAndSaysWhy) {
  SearchSize uncounted = search_of();
  uncounted.counts = {};
  EXPECT_FALSE(estimate_work({}, {}, uncounted));
  EXPECT_THAT(why_unknown(uncounted), HasSubstr("register the template again"));
  SearchSize unread = search_of();
  unread.image = {};
  EXPECT_FALSE(estimate_work({}, {}, unread));
  EXPECT_THAT(why_unknown(unread), HasSubstr("the size of its micrograph is not known"));
  EXPECT_EQ(why_unknown(search_of()), "");
}

TEST(Rates, TheOtherTermsOfTheModelAreLearned) {
  Measures known;
  add(known, one_gpu(356));
  // 4 % longer than a 64th; its job began 50 s before.
  FinishedSearch wide = on(64, 16, 1000 / 64.0 * 1.04);
  wide.serial_seconds = 20;
  wide.start_seconds = 50;
  add(known, wide);
  const RuntimeModel model = learned_model(known, *estimate_work(known, {}, search_of()));
  EXPECT_THAT(model.straggler_loss.at(64), DoubleNear(0.04, 1e-9));
  EXPECT_THAT(model.serial_seconds, DoubleNear(20, 1e-9));
  EXPECT_THAT(model.start_seconds_gpu, DoubleNear(15, 1e-9));
  EXPECT_THAT(model.start_seconds_nodes, DoubleNear(50, 1e-9));
  EXPECT_EQ(model.start_seconds_node, RuntimeModel().start_seconds_node) << "none has run";
}

TEST(Rates, AreGivenToTheChoiceOfAWidthWithTheirSource) {
  Measures known;
  add(known, one_gpu(356));
  const auto time = search_time(known, {}, search_of());
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->work, 20.5e6 / 356, 1);
  EXPECT_EQ(time->model.sigma, 0.2);
  EXPECT_EQ(time->source, "20.5 M correlations at 356/s, 1 past run, +-20 %");
  EXPECT_FALSE(search_time(known, {}, {}));
}

TEST(Rates, OfSearchesOnSeveralDevicesAloneIsThatOfEach) {
  Measures known;
  add(known, on(4, 1, 250));
  EXPECT_NEAR(estimate_work(known, {}, search_of())->rate, 356, 1e-6);
  const RuntimeModel model = learned_model(known, *estimate_work(known, {}, search_of()));
  EXPECT_EQ(straggler_loss(model, 4), 0) << "it cannot be seen from the rate";
}

TEST(Rates, NothingIsLearnedFromFiguresThatMakeNoSense) {
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    FinishedSearch search = one_gpu(356);
    search.search_seconds = bad;
    EXPECT_THAT(learn({}, search), IsEmpty());
    search = one_gpu(356);
    search.correlations = bad;
    EXPECT_THAT(learn({}, search), IsEmpty());
    search = one_gpu(356);
    search.start_seconds = bad;
    for (const db::Measure& measure : learn({}, search)) EXPECT_TRUE(std::isfinite(measure.mean));
  }
  FinishedSearch unnamed = one_gpu(356);
  unnamed.device = "";
  EXPECT_THAT(learn({}, unnamed), IsEmpty());
  EXPECT_THAT(learn({}, one_gpu(356)), SizeIs(3));
}

}  // namespace
}  // namespace scheduler
