// The real daemon on a machine with GPUs: nvidia-smi is a stand-in, and so is the engine, which
// writes down what it sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/environment.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTwo =
    "#!/bin/sh\n"
    "echo 'GPU 0: Fake H100 (UUID: GPU-aaaa)'\n"
    "echo 'GPU 1: Fake H100 (UUID: GPU-bbbb)'\n";

class LocalGpus : public ::testing::Test {
 protected:
  LocalGpus() {
    machine_.write("nvidia-smi", kTwo);
    std::filesystem::permissions(machine_ / "nvidia-smi", std::filesystem::perms::owner_all);
  }

  QueueOptions options(const std::string& local) const {
    return {.site = "tick: 20ms\nlocal: {threads: 1" + local +
                    "}\nintervals: {resolve: 100ms, retry: 100ms}\n",
            .environment = {"PATH=" + machine_.path() + ":" + base::variable("PATH")}};
  }

  static void note_gpus(const QueueAtWork& queue) {
    queue.let_search_do("echo \"$token $CUDA_VISIBLE_DEVICES\" >> \"$home/seen\"");
  }

  // What the search of each item saw, by the item's number; the last attempt's.
  static std::map<int, std::string> seen(const QueueAtWork& queue) {
    std::map<int, std::string> all;
    std::ifstream file(queue.folder() / "seen");
    for (std::string token, gpus; file >> token >> gpus;) {
      const size_t end = token.rfind("-a");
      all[std::stoi(token.substr(token.rfind('-', end - 1) + 1))] = gpus;
    }
    return all;
  }

  ScratchFolder machine_;
};

TEST_F(LocalGpus, AreGivenOneToEachSearchAlsoByADaemonThatWasKilledMeanwhile) {
  QueueAtWork queue(options(""));
  note_gpus(queue);
  queue.let_searches_wait();
  queue.start_daemon();
  queue.add_template();
  for (const char* name : {"1.mrc", "2.mrc", "3.mrc"}) {
    queue.margay_until_done(queue.enqueue_command(queue.make_micrograph(name)));
  }
  ASSERT_TRUE(QueueAtWork::becomes_true([&] { return seen(queue).size() == 2; }));
  EXPECT_EQ(seen(queue), (std::map<int, std::string>{{1, "GPU-aaaa"}, {2, "GPU-bbbb"}}));
  const auto all_are_held = [&] {
    return queue.margay({"status"}).output.find("2 GPUs (0 free), 2 running") != std::string::npos;
  };
  EXPECT_TRUE(QueueAtWork::becomes_true(all_are_held));
  EXPECT_THAT(queue.margay({"status"}).output, HasSubstr("2 of 2 at once"));
  EXPECT_THAT(queue.margay({"explain", "3"}).output, HasSubstr("2 of 2 GPUs busy"));
  EXPECT_THAT(queue.margay({"explain", "1"}).output, HasSubstr("with 1 GPU"));
  EXPECT_THAT(queue.margay({"render", "1"}).output,
              AllOf(HasSubstr("#SBATCH --gres=gpu:1\n"), HasSubstr("--backend cuda")));
  queue.kill_daemon(SIGKILL);
  queue.start_daemon();
  EXPECT_TRUE(QueueAtWork::becomes_true(all_are_held));
  EXPECT_EQ(seen(queue).size(), 2U) << "the third search waits for a GPU";
  queue.let_searches_go();
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  EXPECT_EQ(queue.item_states(),
            (std::map<int, std::string>{{1, "DONE"}, {2, "DONE"}, {3, "DONE"}}));
  EXPECT_EQ(queue.effects("started"), (std::map<int, int>{{1, 1}, {2, 1}, {3, 1}}));
  EXPECT_THAT(seen(queue)[3], ::testing::AnyOf("GPU-aaaa", "GPU-bbbb"));
  EXPECT_THAT(queue.margay({"show", "1"}).output, HasSubstr("1 GPU"));
  queue.kill_daemon(SIGTERM);
}

TEST_F(LocalGpus, AreGivenTogetherWhereTheSiteSaysSo) {
  QueueAtWork queue(options(", gpus_per_search: 2"));
  note_gpus(queue);
  queue.start_daemon();
  queue.add_template();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("1.mrc")));
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  EXPECT_EQ(seen(queue), (std::map<int, std::string>{{1, "GPU-aaaa,GPU-bbbb"}}));
  EXPECT_THAT(queue.margay({"render", "1"}).output, HasSubstr("--nproc 2"));
  queue.kill_daemon(SIGTERM);
}

TEST_F(LocalGpus, AreThoseThatTheDaemonItselfSees) {
  QueueOptions one = options("");
  one.environment.emplace_back("CUDA_VISIBLE_DEVICES=1");
  QueueAtWork queue(one);
  note_gpus(queue);
  queue.start_daemon();
  EXPECT_THAT(queue.daemon_log(), HasSubstr("CUDA_VISIBLE_DEVICES=1 leaves 1 of 2 GPUs"));
  queue.add_template();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("1.mrc")));
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  EXPECT_EQ(seen(queue), (std::map<int, std::string>{{1, "GPU-bbbb"}}));
  queue.kill_daemon(SIGTERM);
}

TEST_F(LocalGpus, ThatTheSiteNamesAndTheMachineLacksAreRefused) {
  QueueAtWork queue(options(", gpus: 3"));
  queue.start_daemon();
  ASSERT_FALSE(queue.daemon_runs());
  const Finished refused = queue.wait_for_daemon();
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_THAT(refused.error, HasSubstr("local.gpus asks for 3 GPUs, and this machine has 2"));
}

TEST_F(LocalGpus, AreLeftAloneByAnEngineWithoutCuda) {
  QueueAtWork queue(options(", slots: 3"));
  std::ofstream(queue.folder() / "engine.new")
      << "#!/bin/sh\n[ \"$1\" != info ] || { echo '  backends         cpu'; exit 0; }\nexec '"
      << (queue.folder() / "real") << "' \"$@\"\n";
  std::filesystem::rename(queue.folder() / "engine", queue.folder() / "real");
  std::filesystem::rename(queue.folder() / "engine.new", queue.folder() / "engine");
  std::filesystem::permissions(queue.folder() / "engine", std::filesystem::perms::owner_all);
  queue.start_daemon();
  ASSERT_TRUE(queue.daemon_runs());
  EXPECT_THAT(queue.daemon_log(), HasSubstr("was built without CUDA and cannot use the 2 GPUs"));
  EXPECT_THAT(queue.margay({"status"}).output,
              AllOf(HasSubstr("3 slots, 0 running"), Not(HasSubstr("GPU"))));
  queue.kill_daemon(SIGTERM);
}

}  // namespace
}  // namespace tests
