// The real daemon with jobs on this machine: what stops without ending, and what two daemons must
// not share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "base/json.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(StoppedEngine, IsEndedRetriedAndItsSlotIsFree) {
  QueueAtWork queue(QueueOptions{.site = "tick: 20ms\nlocal: {slots: 1, threads: 1, gpus: 0}\n"
                                         "intervals: {resolve: 100ms, retry: 100ms, stall: 1s}\n"});
  queue.let_search_do("[ -e \"$home/stopped\" ] || { touch \"$home/stopped\"; kill -STOP $$; }", 1);
  queue.start_daemon();
  queue.add_template();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("stopped.mrc")));
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("other.mrc")));
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  EXPECT_EQ(queue.item_states(), (std::map<int, std::string>{{1, "DONE"}, {2, "DONE"}}));
  const auto shown = nlohmann::json::parse(queue.margay({"show", "1", "--json"}).output);
  const auto& attempts = shown.at("item").at("attempts");
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts.at(0).at("state"), "FAILED");
  EXPECT_EQ(attempts.at(0).at("cause"), "stalled");
  EXPECT_EQ(queue.effects("started").at(1), 2);
  queue.kill_daemon(SIGTERM);
}

TEST(TwoDaemons, OfTwoDatabasesDoNotShareAFolderOfJobs) {
  const ScratchFolder shared;
  const QueueOptions options{.site = "jobs: " + shared / "jobs" +
                                     "\ntick: 20ms\nlocal: {slots: 1, threads: 1, gpus: 0}\n"};
  QueueAtWork first(options);
  first.start_daemon();
  ASSERT_TRUE(first.daemon_runs());
  QueueAtWork second(options);
  second.start_daemon();
  ASSERT_FALSE(second.daemon_runs());
  const Finished refused = second.wait_for_daemon();
  EXPECT_EQ(refused.exit_code, 78);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("'" + shared / "jobs" + "'"),
                                   HasSubstr("belongs to another database"),
                                   HasSubstr("set 'jobs' to another folder")));
  EXPECT_EQ(first.margay({"status"}).exit_code, 0);
}

}  // namespace
}  // namespace tests
