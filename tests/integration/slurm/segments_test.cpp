// On a real Slurm: a bulk search stops with a checkpoint at the end of its segment, lets what is
// more urgent go first, and resumes from its checkpoint.
#include <gtest/gtest.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <string>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

constexpr std::chrono::minutes kLongest{8};  // Slurm looks for warnings once a minute

// Without a checkpoint it only waits to be asked for one.
constexpr const char* kSearches = R"sh(if [ ! -s "${resume:-/dev/null}" ]; then
  trap 'echo units > "$folder/checkpoint.mgc"
    echo "{\"done\": 50, \"total\": 100, \"state\": \"stopped\"}" > "$folder/progress.json"
    exit 85' USR1
  echo "listens $token" >> "$home/effects"
  while :; do sleep 0.2 || :; done
fi)sh";

TEST(Segments, LetWhatIsMoreUrgentGoFirstAndLoseNothing) {
  if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  const SlurmBed bed(BedOptions{.nodes = 1, .gpus = 1, .accounting = false});
  SlurmQueue queue(bed, SiteOptions{.slurm = "  backend: cpu\n" + plain_options("signal: USR1@60") +
                                             "rates: {stand-in: 1e-11}\n"
                                             "policy: {widths: chosen, segment: 2m}\n"});
  queue.let_search_do(kSearches);
  queue.let_search_do(":", 2);
  queue.start_daemon();
  queue.add_template();
  const int low = queue.enqueue({"--priority", "low"});
  ASSERT_TRUE(SlurmQueue::becomes_true([&] { return queue.effects("listens").contains(low); }));
  const int high = queue.enqueue({"--priority", "high"});
  EXPECT_EQ(bed.job_field(queue.job_of(low), "TimeLimit"), "00:03:00");
  EXPECT_TRUE(tests::becomes_true([&] { return queue.all_ended(); }, kLongest));
  const nlohmann::json attempts = queue.item(low).at("attempts");
  ASSERT_EQ(attempts.size(), 2u) << queue.shown(low);
  EXPECT_EQ(attempts.at(0).at("state"), "CHECKPOINTED");
  EXPECT_EQ(attempts.at(0).at("cause"), "segment");
  EXPECT_EQ(attempts.at(1).at("state"), "DONE");
  EXPECT_EQ(queue.effects("resumed"), (std::map<int, int>{{low, 1}}));
  EXPECT_LE(queue.attempt(high).at("ended").get<int64_t>(),
            attempts.at(1).at("started").get<int64_t>() + 1)
      << "whole seconds";
  if (testing::Test::HasFailure()) {
    std::cout << queue.shown(low) << queue.shown(high) << queue.kill_daemon(SIGKILL).error;
  }
}

}  // namespace
}  // namespace tests
