// One search by several processes: the same maps as by one, to the bit, whoever is killed, stopped
// or cut off, and never a hang. MARGAY_LONG=1 repeats it many more times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "tests/integration/rank_group.h"
#include "tests/require.h"
#include "tests/small_disk.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Ranks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    SmallSearch search;
    make_long_enough(search);
    const auto start = std::chrono::steady_clock::now();
    const Finished f = search.match();
    ASSERT_EQ(f.exit_code, 0) << f.error;
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    reference_ = map_pixels(search);
    for (const std::string& map : reference_) ASSERT_FALSE(map.empty());
  }

  static void make_long_enough(SmallSearch& search) {
    search.sections["orientation_search_config"] = "{psi_step: 6, theta_step: 12, symmetry: C1}";
  }

  void expect_same_maps(const SmallSearch& search) const {
    EXPECT_TRUE(map_pixels(search) == reference_) << "the maps differ";
  }

  // Runs with another number of ranks and the checkpoint that is there.
  void expect_resumed_to_the_same_maps(const SmallSearch& search, int ranks,
                                       std::vector<std::string> options = {}) const {
    if (fs::exists(search.file("search.mgc"))) {
      options.insert(options.end(), {"--resume", "search.mgc"});
    }
    RankGroup group(search, {.ranks = ranks, .options = options, .timeout = "30s"});
    for (const Finished& f : group.wait()) EXPECT_EQ(f.exit_code, 0) << f.error;
    expect_same_maps(search);
  }

  void sleep_part(std::mt19937& random) const {
    std::this_thread::sleep_for(std::chrono::duration<double>(
        seconds_ * std::uniform_real_distribution<>(0.0, 0.4)(random)));
  }

  static std::vector<std::string> reference_;  // the maps of one process
  static double seconds_;                      // that it took
};

std::vector<std::string> Ranks::reference_;
double Ranks::seconds_ = 0;

const std::vector<std::string> kCheckpoint{"--checkpoint", "search.mgc", "--checkpoint-every",
                                           "50ms"};

TEST_F(Ranks, GiveTheSameMapsWhateverTheirNumberTheChunksAndTheBatch) {
  const std::vector<std::pair<int, std::vector<std::string>>> ways = {
      {1, {}},
      {2, {"--chunk", "1", "--batch", "3"}},
      {3, {}},
      {4, {"--chunk", "3", "--batch", "2"}},
      {7, {"--chunk", "5"}},
      {2, {"--chunk", "1000000"}}};
  for (const auto& [ranks, options] : ways) {
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search, {.ranks = ranks, .options = options, .timeout = "30s"});
    for (const Finished& f : group.wait()) EXPECT_EQ(f.exit_code, 0) << f.error;
    expect_same_maps(search);
  }
}

TEST_F(Ranks, StartedByOneProcessGiveTheSameMaps) {
  SmallSearch search;
  make_long_enough(search);
  const Finished f = search.match({"--nproc", "3"});
  EXPECT_EQ(f.exit_code, 0) << f.error;
  expect_same_maps(search);
  EXPECT_THAT(text_of(search.file("out/manifest.json")), HasSubstr("\"rank\": 2"));
  EXPECT_THAT(f.error, testing::AllOf(HasSubstr("START: world size 3 on 1 host: rank 0 on "),
                                      HasSubstr(", rank 2 on "), HasSubstr("END: done after "),
                                      HasSubstr(" s with world size 3")));
}

TEST_F(Ranks, AreNotStartedByOneThatALauncherStarted) {
  SmallSearch search;
  search.write_config();
  const Finished f = run_program(
      {engine_program(), "match", "search.yaml", "--nproc", "2"}, search.folder(),
      {"RANK=0", "LOCAL_RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500"});
  EXPECT_EQ(f.exit_code, 2);
  EXPECT_THAT(f.error, testing::AllOf(HasSubstr("rank 0 of 2 (torchrun)"), HasSubstr("--nproc")));
}

TEST_F(Ranks, MeetAtAnAddressToo) {
  SmallSearch search;
  make_long_enough(search);
  RankGroup group(search, {.ranks = 3, .rendezvous = "127.0.0.1:23841", .timeout = "30s"});
  for (const Finished& f : group.wait()) EXPECT_EQ(f.exit_code, 0) << f.error;
  expect_same_maps(search);
}

// One rank is lost at a random instant: all end soon, rank 0 says who it was, and the checkpoint is
// good for any number of ranks.
TEST_F(Ranks, EndWithTheNameOfTheRankThatWasKilled) {
  std::mt19937 random(5);
  int disturbed = 0;
  for (int i = 0; i < repetitions(5, 50); ++i) {
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search, {.ranks = 3, .options = kCheckpoint});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    sleep_part(random);
    const int victim = 1 + static_cast<int>(random() % 2);
    group.rank(victim).signal(SIGKILL);
    const std::vector<Finished> ends = group.wait();
    if (ends[0].exit_code == 0) {
      expect_same_maps(search);
      continue;
    }
    EXPECT_EQ(ends[0].exit_code, 70) << ends[0].error;
    EXPECT_THAT(ends[0].error, HasSubstr("rank " + std::to_string(victim)));
    EXPECT_EQ(ends[static_cast<size_t>(3 - victim)].exit_code, 70);
    ++disturbed;
    expect_resumed_to_the_same_maps(search, 1 + static_cast<int>(random() % 4));
  }
  EXPECT_GT(disturbed, 0);
}

TEST_F(Ranks, EndWithTheNameOfTheRankThatHangs) {
  std::mt19937 random(6);
  int disturbed = 0;
  for (int i = 0; i < repetitions(5, 50); ++i) {
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search, {.ranks = 3, .options = kCheckpoint});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    sleep_part(random);
    group.rank(2).signal(SIGSTOP);
    // The others end while it still hangs.
    for (const int rank : {0, 1}) {
      ASSERT_TRUE(becomes_true([&] { return !group.rank(rank).running(); })) << rank;
    }
    group.rank(2).signal(SIGCONT);
    const std::vector<Finished> ends = group.wait();
    if (ends[0].exit_code == 0) continue;
    EXPECT_EQ(ends[0].exit_code, 70);
    EXPECT_THAT(ends[0].error, HasSubstr("rank 2"));
    EXPECT_EQ(ends[2].exit_code, 70);
    ++disturbed;
    expect_resumed_to_the_same_maps(search, 2);
  }
  EXPECT_GT(disturbed, 0);
}

TEST_F(Ranks, EndWhenRank0IsKilled) {
  std::mt19937 random(7);
  int disturbed = 0;
  for (int i = 0; i < repetitions(5, 50); ++i) {
    SmallSearch search;
    make_long_enough(search);
    std::vector<std::string> options = kCheckpoint;
    options.insert(options.end(), {"--on-rank-loss", "continue"});
    RankGroup group(search, {.ranks = 3, .options = options});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    sleep_part(random);
    group.rank(0).signal(SIGKILL);
    const std::vector<Finished> ends = group.wait();
    if (fs::exists(search.file("out/manifest.json"))) continue;
    for (const int rank : {1, 2}) {
      const Finished& f = ends[static_cast<size_t>(rank)];
      if (f.exit_code == 0) continue;  // rank 0 was writing the results already
      EXPECT_EQ(f.exit_code, 70);
      EXPECT_THAT(f.error, HasSubstr("rank 0"));
      ++disturbed;
    }
    expect_resumed_to_the_same_maps(search, 1 + static_cast<int>(random() % 3));
  }
  EXPECT_GT(disturbed, 0);
}

TEST_F(Ranks, ContinueWithoutALostOneWhereTheyMay) {
  std::mt19937 random(8);
  for (int i = 0; i < repetitions(5, 50); ++i) {
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search, {.ranks = 4,
                             .options = {"--on-rank-loss", "continue", "--checkpoint-every",
                                         std::to_string(20 + random() % 300) + "ms"}});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    sleep_part(random);
    group.rank(1).signal(SIGKILL);
    sleep_part(random);
    group.rank(3).signal(i % 2 == 0 ? SIGKILL : SIGSTOP);
    ASSERT_TRUE(becomes_true([&] { return !group.rank(0).running(); }));
    group.rank(3).signal(SIGCONT);
    const std::vector<Finished> ends = group.wait();
    EXPECT_EQ(ends[0].exit_code, 0) << ends[0].error;
    EXPECT_EQ(ends[2].exit_code, 0) << ends[2].error;
    expect_same_maps(search);
  }
}

// None of them waits for a dead one as long as the time-out, which is longer than this test may
// take.
TEST_F(Ranks, GoOnAtOnceWithoutSeveralThatAreLostAtTheSameInstant) {
  std::mt19937 random(12);
  for (int i = 0; i < repetitions(5, 50); ++i) {
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search, {.ranks = 5,
                             .options = {"--on-rank-loss", "continue", "--checkpoint-every", "1ms"},
                             .timeout = "10m"});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    sleep_part(random);
    for (const int rank : {1, 3}) group.rank(rank).signal(SIGKILL);
    const std::vector<Finished> ends = group.wait();
    for (const size_t rank : {0, 2, 4}) EXPECT_EQ(ends[rank].exit_code, 0) << ends[rank].error;
    expect_same_maps(search);
  }
}

TEST_F(Ranks, KilledAtAnyInstantAndResumedByAnotherNumberGiveTheSameMaps) {
  std::mt19937 random(9);
  SmallSearch search;
  make_long_enough(search);
  int disturbed = 0;
  for (int i = 0; i < repetitions(10, 200); ++i) {
    std::vector<std::string> options = kCheckpoint;
    if (fs::exists(search.file("search.mgc"))) {
      options.insert(options.end(), {"--resume", "search.mgc"});
    }
    RankGroup group(search, {.ranks = 1 + static_cast<int>(random() % 4), .options = options});
    sleep_part(random);
    for (int rank = 0; rank < group.size(); ++rank) group.rank(rank).signal(SIGKILL);
    const std::vector<Finished> ends = group.wait();
    if (ends[0].exit_code != 0) {
      ++disturbed;
      continue;
    }
    expect_same_maps(search);
  }
  EXPECT_GT(disturbed, 0);
  expect_resumed_to_the_same_maps(search, 3);
}

TEST_F(Ranks, AskedToStopThroughAnyOfThemAllEndWithACheckpoint) {
  for (const int asked : {0, 2}) {
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search,
                    {.ranks = 3, .options = {"--checkpoint", "search.mgc"}, .timeout = "30s"});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    group.rank(asked).signal(SIGTERM);
    for (const Finished& f : group.wait()) EXPECT_EQ(f.exit_code, 85) << f.error;
    ASSERT_TRUE(fs::exists(search.file("search.mgc")));
    expect_resumed_to_the_same_maps(search, 2);
  }
}

// The folder of the checkpoint is a small file system of its own, and gets full.
TEST_F(Ranks, AFullDiskUnderTheCheckpointCostsTheCheckpointAlone) {
  for (int i = 0; i < repetitions(5, 50); ++i) {
    SmallSearch search;
    make_long_enough(search);
    const SmallDisk disk(search.file("disk"), "16m");
    if (!disk.is_mounted()) MARGAY_SKIP_FOR_WANT_OF("mount", "the right to mount a file system");
    RankGroup group(search,
                    {.ranks = 3,
                     .options = {"--checkpoint", "disk/search.mgc", "--checkpoint-every", "5ms"},
                     .timeout = "30s"});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    // Again and again: the room that an older checkpoint leaves is enough for the next one.
    while (group.rank(0).running()) disk.fill();
    const std::vector<Finished> ends = group.wait();
    for (const Finished& f : ends) EXPECT_EQ(f.exit_code, 0) << f.error;
    EXPECT_THAT(ends[0].error, HasSubstr("the disk is full"));
    expect_same_maps(search);
  }
}

// A job of Slurm's that is suspended for a while.
TEST_F(Ranks, AllSuspendedForLongerThanTheTimeOutGoOnAfterwards) {
  // In their work, and in a round of merging.
  for (const std::string every : {"10m", "1ms"}) {
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search, {.ranks = 3, .options = {"--checkpoint-every", every}});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    for (int rank = 0; rank < 3; ++rank) group.rank(rank).signal(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds(5));
    for (int rank = 0; rank < 3; ++rank) group.rank(rank).signal(SIGCONT);
    for (const Finished& f : group.wait()) EXPECT_EQ(f.exit_code, 0) << f.error;
    expect_same_maps(search);
  }
}

TEST_F(Ranks, ARankThatNeverComesEndsTheOthersByName) {
  SmallSearch search;
  make_long_enough(search);
  search.write_config();
  const Finished f =
      run_program({engine_program(), "match", "search.yaml", "--backend", "cpu", "--rank", "0",
                   "--world-size", "3", "--rendezvous", "file:" + search.file("rendezvous"),
                   "--run-id", "lonely", "--rank-timeout", "1s"},
                  search.folder());
  EXPECT_EQ(f.exit_code, 70);
  EXPECT_THAT(f.error, HasSubstr("rank 1, 2 of 3 did not arrive"));
}

TEST_F(Ranks, ABadInputEndsAllWithItsCodeAndIsNamedOnce) {
  // The second is not even a configuration.
  for (const auto& [section, value] : std::map<std::string, std::string>{
           {"micrograph_path", "missing.mrc"}, {"optics_group", "none of ours"}}) {
    SmallSearch search;
    search.sections[section] = value;
    RankGroup group(search, {.ranks = 3, .timeout = "30s"});
    const std::vector<Finished> ends = group.wait();
    for (const Finished& f : ends) EXPECT_EQ(f.exit_code, 64) << f.error;
    EXPECT_THAT(ends[0].error, HasSubstr(section));
    EXPECT_EQ(ends[1].error, "");
  }
}

}  // namespace
}  // namespace tests
