#include "scheduler/results/learn_rates.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "db/measures.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::MeasureKind;
using nlohmann::json;
using testing::DoubleNear;

class LearnRatesTest : public DaemonFixture {
 protected:
  std::optional<db::Measure> measure(MeasureKind kind) {
    for (const db::Measure& one : db::MeasureStore(*database_).all()) {
      if (one.kind == kind) return one;
    }
    return std::nullopt;
  }
  int64_t finished(const std::string& name) {
    const auto id = enqueue(name).id;
    ticks(2);
    finish(attempt(id));
    ticks(1);
    EXPECT_EQ(item(id).state, ItemState::kDone);
    return id;
  }
  // As if the manifest had been changed.
  std::optional<FinishedSearch> with(const std::function<void(json&)>& change) {
    db::Result stored = *result(1);
    json manifest = json::parse(stored.manifest_json);
    change(manifest);
    stored.manifest_json = manifest.dump();
    return finished_search(attempt(1), stored);
  }
};

TEST_F(LearnRatesTest, EachFinishedItemTeachesHowLongTheNextTakes) {
  finished("a.mrc");
  const auto rate = measure(MeasureKind::kRate);
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->engine, "1.0");
  EXPECT_EQ(rate->device, "NVIDIA H200");
  EXPECT_EQ(rate->width, 5760);
  EXPECT_EQ(rate->height, 4092);
  EXPECT_EQ(rate->template_size, 384);
  EXPECT_EQ(rate->runs, 1);
  EXPECT_THAT(std::exp(rate->mean), DoubleNear(1000 / 3.5, 1e-6));
  EXPECT_THAT(std::exp(measure(MeasureKind::kSerial)->mean), DoubleNear(4, 1e-9));
  finished("b.mrc");
  EXPECT_EQ(measure(MeasureKind::kRate)->runs, 2);
}

TEST_F(LearnRatesTest, SearchesOnLargerPixelsAreRatesOfTheirOwn) {
  finished("a.mrc");
  EXPECT_EQ(with([](json& manifest) { manifest["fourier_crop"] = nullptr; })->engine, "1.0");
  const auto cropped = with([](json& manifest) {
    manifest["fourier_crop"] = {{"height", 3069}, {"width", 4320}, {"template_size", 288}};
  });
  ASSERT_TRUE(cropped);
  EXPECT_EQ(cropped->engine, "1.0, fourier_crop 288 of 384");
  EXPECT_EQ(cropped->width, 5760);
  EXPECT_FALSE(with([](json& manifest) { manifest["fourier_crop"] = "yes"; }));
}

TEST_F(LearnRatesTest, AManifestThatDoesNotSayItTeachesNothing) {
  finished("a.mrc");
  for (const char* key : {"version", "device", "host", "other_ranks"}) {
    EXPECT_FALSE(with([&](json& manifest) { manifest.erase(key); })) << key;
  }
  EXPECT_FALSE(with([](json& manifest) { manifest["timings"]["search_seconds"] = "long"; }));
  EXPECT_FALSE(with([](json& manifest) { manifest["inputs"]["micrograph"].erase("width"); }));
  EXPECT_FALSE(with([](json& manifest) { manifest["inputs"]["micrograph"]["width"] = 1e27; }));
  EXPECT_FALSE(with([](json& manifest) { manifest["inputs"]["template"]["size"] = 64.5; }));
  EXPECT_TRUE(with([](json&) {}));
}

TEST_F(LearnRatesTest, RanksAreCountedByTheirHostsAndMustHaveTheSameModel) {
  finished("a.mrc");
  const auto ranks = [](const std::string& device) {
    return [device](json& manifest) {
      for (const char* host : {"node1", "node2", "node2"}) {
        manifest["other_ranks"].push_back(
            {{"rank", 1}, {"host", host}, {"device", device}, {"correlations", 7}});
      }
    };
  };
  const auto search = with(ranks("cuda, NVIDIA H200"));
  ASSERT_TRUE(search);
  EXPECT_EQ(search->gpus, 4);
  EXPECT_EQ(search->nodes, 2);
  EXPECT_FALSE(with(ranks("cuda, NVIDIA L40S")));
}

TEST_F(LearnRatesTest, TheRateOfProcessorsIsThatOfSoManyThreads) {
  finished("a.mrc");
  const auto search = with([](json& manifest) {
    manifest["device"] = {{"backend", "cpu"}, {"name", "AMD EPYC 9654"}, {"threads", 16}};
  });
  EXPECT_EQ(search->device, "AMD EPYC 9654, 16 threads");
}

TEST_F(LearnRatesTest, TheStartIsWhatIsLeftOfTheJobsTime) {
  finished("a.mrc");
  db::Attempt attempt = this->attempt(1);
  attempt.started = 2;  // the manifest was finished at 20, after 7.5 s of work
  EXPECT_THAT(finished_search(attempt, *result(1))->start_seconds, testing::Optional(10.5));
  attempt.started = 0;
  EXPECT_FALSE(finished_search(attempt, *result(1))->start_seconds) << "not known";
  attempt.started = 500;
  EXPECT_FALSE(finished_search(attempt, *result(1))->start_seconds) << "another clock";
}

}  // namespace
}  // namespace scheduler
