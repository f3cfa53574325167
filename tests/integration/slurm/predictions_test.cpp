// What is predicted of 200 items on a real Slurm of 16 nodes with 4 GPUs each, against what becomes
// of them. In place of the engine sleeps a stand-in for as long as its search would take on its
// GPUs, give or take 15 %, and says so in its manifest, from which the daemon learns.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

using nlohmann::json;
using std::chrono::seconds;

// Its one correlation takes 80 s on one GPU. The item's number says how much more or less.
constexpr const char* kTakesItsTime = R"sh(gpus=${SLURM_NTASKS:-1}
item=${token%-a*}
percent=$((85 + ${item##*-} * 37 % 31))
search=$(awk "BEGIN { print 80 * $percent / 100 / $gpus }")
sleep "$search"
others=$(for rank in $(seq 1 $((gpus - 1))); do
  printf '%s{"rank": %d, "host": "h%d", "device": "cuda, stand-in"}' \
    "$([ "$rank" = 1 ] || echo ', ')" "$rank" "$((rank / 4))"
done)
tell_all() {
  sed -i -e "s/\"status\": \"done\",/\"status\": \"done\", \"version\": \"fake\", \"host\": \"h0\",/" \
    -e "s/\"status\": \"done\",/& \"device\": {\"backend\": \"cuda\", \"name\": \"stand-in\"},/" \
    -e "s/\"status\": \"done\",/& \"other_ranks\": [$others],/" \
    -e 's/"micrograph": {/&"height": 16, "width": 16, /' -e 's/"template": {/&"size": 1, /' \
    -e "s/\"search_seconds\": 0,/\"search_seconds\": $search,/" \
    -e "s/\"timings\": {/&\"correlations_per_second\": $(awk "BEGIN { print 1 / $search }"),/" \
    -e "s/\"timings\": {/&\"finished\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",/" "$folder/manifest.json"
}
trap tell_all EXIT
)sh";

constexpr int kToLearnFrom = 24;
constexpr int kPredicted = 200;
constexpr double kLongestSearch = 80 * 1.15;
constexpr double kOverhead = 20;  // from one job to the next where two processors run all of this

double at_part(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values.at(static_cast<size_t>(part * static_cast<double>(values.size() - 1)));
}

struct Predicted {
  int64_t start = 0;
  int64_t end = 0;
};

int64_t seconds_since_epoch() {
  return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
}

class Predictions : public testing::Test {
 protected:
  void SetUp() override {
    if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    bed_ = std::make_unique<SlurmBed>(BedOptions{.accounting = false, .min_job_age = 3600});
    queue_ = std::make_unique<SlurmQueue>(
        *bed_, SiteOptions{.slurm = "  backend: cpu\n  max_jobs: 500\n" + plain_options() +
                                    "policy: {widths: chosen}\n"});
    queue_->let_search_do(kTakesItsTime);
    queue_->start_daemon();
    queue_->add_template();
  }
  void TearDown() override {
    if (HasFailure() && queue_) std::cout << queue_->kill_daemon(SIGKILL).error;
  }

  void enqueue(int count, const std::string& priority) {
    std::vector<std::string> command;
    for (int i = 0; i < count; ++i) {
      const std::string path = queue_->make_micrograph(std::to_string(++enqueued_) + ".mrc");
      if (i == 0) {
        command = queue_->enqueue_command(path);
      } else {
        command.insert(command.begin() + 2, path);
      }
    }
    command.insert(command.end(), {"--same-ctf", "--priority", priority});
    const Finished done = queue_->margay(command);
    ASSERT_EQ(done.exit_code, 0) << done.error;
  }
  bool all_end() const {
    return tests::becomes_true([&] { return queue_->all_ended(); }, seconds(1800));
  }
  json listed() const {
    return json::parse(queue_->margay({"list", "--all", "--json"}).output).at("items");
  }
  // The first prediction of each item that was enqueued after the first ones. Whether all have one.
  bool all_predicted(std::map<int, Predicted>& known) const {
    for (const json& item : listed()) {
      if (item.at("id") <= kToLearnFrom || !item.contains("expected_end")) continue;
      known.try_emplace(item.at("id"),
                        Predicted{item.at("expected_start"), item.at("expected_end")});
    }
    return known.size() == kPredicted;
  }

  // By when each item that was enqueued after the first ones is done with 90 % certainty.
  std::map<int, int64_t> bounds() const {
    constexpr int kAtOnce = 20;
    std::map<int, int64_t> by;
    for (int first = kToLearnFrom + 1; first <= kToLearnFrom + kPredicted; first += kAtOnce) {
      const std::string items = std::to_string(first) + "-" + std::to_string(first + kAtOnce - 1);
      const Finished done = queue_->margay({"explain", items, "--json"});
      EXPECT_EQ(done.exit_code, 0) << done.error;
      const json explained = json::parse(done.output);
      for (const json& one : explained.at("items")) {
        if (!one.contains("forecast") || one.at("forecast").is_null()) continue;
        const json& bound = one.at("forecast").at("done_by");
        if (!bound.is_null()) by.emplace(one.at("item"), bound.get<int64_t>());
      }
    }
    return by;
  }

  std::unique_ptr<SlurmBed> bed_;
  std::unique_ptr<SlurmQueue> queue_;
  int enqueued_ = 0;
};

TEST_F(Predictions, OfTwoHundredItemsComeTrue) {
  enqueue(kToLearnFrom - 2, "normal");
  enqueue(2, "urgent");
  ASSERT_TRUE(all_end());
  std::this_thread::sleep_for(seconds(35));  // what has been learned is read every half minute

  std::map<int, Predicted> predicted;
  const std::vector<std::pair<int, std::string>> kClasses = {
      {10, "urgent"}, {30, "high"}, {60, "normal"}, {100, "low"}};
  for (const auto& [count, priority] : kClasses) {
    enqueue(count, priority);
    all_predicted(predicted);
  }
  ASSERT_TRUE(QueueAtWork::becomes_true([&] { return all_predicted(predicted); }));
  const int64_t predicted_at = seconds_since_epoch();
  const json status = json::parse(queue_->margay({"status", "--json"}).output);
  const std::map<int, int64_t> bounds = this->bounds();
  // A few may have ended before they were asked for.
  EXPECT_GE(bounds.size(), static_cast<size_t>(0.9 * kPredicted));
  std::cout << queue_->margay({"explain", std::to_string(kToLearnFrom + 150)}).output;
  ASSERT_TRUE(all_end());

  std::vector<double> starts, ends;
  int64_t last_end = 0;
  int within_bound = 0;
  int within_overhead = 0;
  std::map<std::string, int> widths;
  for (int i = 0; i < kPredicted; ++i) {
    const int id = kToLearnFrom + 1 + i;
    const json item = queue_->item(id);
    EXPECT_EQ(item.at("state"), "DONE");
    ASSERT_EQ(item.at("attempts").size(), 1u) << item.dump(1);
    const json attempt = item.at("attempts").at(0);
    const Predicted& of_item = predicted.at(id);
    const auto ended = attempt.at("ended").get<int64_t>();
    starts.push_back(static_cast<double>(attempt.at("started").get<int64_t>() - of_item.start));
    ends.push_back(static_cast<double>(ended - of_item.end));
    last_end = std::max(last_end, ended);
    const auto bound = bounds.find(id);
    if (bound == bounds.end()) continue;
    if (ended <= bound->second) ++within_bound;
    if (static_cast<double>(ended) <= static_cast<double>(bound->second) + kOverhead)
      ++within_overhead;
    ++widths[attempt.at("shape")];
  }
  for (const auto& [shape, items] : widths) std::cout << items << " with " << shape << "\n";
  const auto report = [](const char* what, const std::vector<double>& late) {
    std::cout << what << " later than predicted by s: 5 % " << at_part(late, 0.05) << ", median "
              << at_part(late, 0.5) << ", 95 % " << at_part(late, 0.95) << "\n";
  };
  report("starts", starts);
  report("ends", ends);
  const auto whole = static_cast<double>(last_end - predicted_at);
  const auto predicted_whole =
      static_cast<double>(status.at("expected_end").get<int64_t>() - predicted_at);
  std::cout << "the whole queue took " << whole << " s, predicted " << predicted_whole << std::endl;
  EXPECT_NEAR(whole / predicted_whole, 1, 0.2);
  std::cout << within_bound << " of " << bounds.size()
            << " were done by the time that is given with 90 % certainty, " << within_overhead
            << " within " << kOverhead << " s of it" << std::endl;
  EXPECT_GE(within_overhead, 0.9 * static_cast<double>(bounds.size()));
  // Which of the waiting items of several classes is next is not predicted exactly, and each waits
  // for whole searches.
  for (const auto* late : {&starts, &ends}) {
    EXPECT_LT(std::abs(at_part(*late, 0.5)), 0.1 * whole);
    EXPECT_LT(at_part(*late, 0.95), kLongestSearch + kOverhead);
    EXPECT_GT(at_part(*late, 0.05), -kLongestSearch - kOverhead);
  }
}

}  // namespace
}  // namespace tests
