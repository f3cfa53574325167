// Which GPUs the jobs of the local cluster get. What a job sees, it writes itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "slurm/local/free_gpus.h"
#include "slurm/local/local_cluster.h"
#include "tests/unit/slurm/local/local_jobs.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

class LocalGpus : public LocalClusterTest {
 protected:
  LocalClusterOptions with_gpus(int count) const {
    LocalClusterOptions all = options();
    for (int i = 0; i < count; ++i) {
      all.gpus.push_back(
          {.id = "GPU-" + std::string(1, static_cast<char>('a' + i)), .model = "Fake H100"});
    }
    return all;
  }

  // Writes what it sees to NAME.gpus, and stays until the file NAME.go is there.
  JobRequest gpu_job(const std::string& name, int gpus) const {
    JobRequest job = request(name, "echo \"${CUDA_VISIBLE_DEVICES-unset}\" > " + name +
                                       ".new\n"
                                       "mv " +
                                       name + ".new " + name +
                                       ".gpus\n"
                                       "while [ ! -e " +
                                       name + ".go ]; do sleep 0.02; done");
    const std::string asks = gpus == 0 ? "" : "#SBATCH --gres=gpu:" + std::to_string(gpus) + "\n";
    job.script.insert(0, "#!/bin/bash\n" + asks);
    return job;
  }

  void end(const std::string& name) const { std::ofstream(folder_ / "work" / (name + ".go")); }

  std::string seen_by(const std::string& name) const {
    const fs::path file = folder_ / "work" / (name + ".gpus");
    becomes_true([&] { return fs::exists(file); });
    const auto all = lines(file);
    return all.empty() ? "nothing" : all.front();
  }
  bool has_started(const std::string& name) const { return times_run(name) > 0; }
};

TEST(FreeGpus, AreThoseThatNobodyHolds) {
  FreeGpus free({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  free.take({"b"});
  EXPECT_EQ(free.count(), 2);
  EXPECT_EQ(free.give(3), std::nullopt);
  EXPECT_THAT(free.give(2), Optional(ElementsAre("a", "c")));
  EXPECT_EQ(free.give(1), std::nullopt);
  EXPECT_THAT(free.give(0), Optional(IsEmpty()));
}

// The driver gave UUIDs before, and gives none now; or the other way around.
TEST(FreeGpus, AreNoneWhileOneIsHeldUnderAnotherKindOfName) {
  FreeGpus by_number({{.id = "0"}, {.id = "1"}});
  by_number.take({"GPU-a"});
  EXPECT_EQ(by_number.count(), 0);
  EXPECT_EQ(by_number.give(1), std::nullopt);
  FreeGpus by_uuid({{.id = "GPU-a"}, {.id = "GPU-b"}});
  by_uuid.take({"0"});
  EXPECT_EQ(by_uuid.count(), 0);
  FreeGpus parts({{.id = "MIG-a"}, {.id = "MIG-b"}});
  parts.take({"GPU-a"});
  EXPECT_EQ(parts.count(), 0);
}

// As after local.gpus names fewer.
TEST(FreeGpus, AreNotFewerWhereAnotherOneIsHeld) {
  FreeGpus free({{.id = "GPU-b"}});
  free.take({"GPU-a"});
  EXPECT_EQ(free.give(1), std::vector<std::string>{"GPU-b"});
}

TEST(FreeGpus, ThatRestAreGivenLastAndOnlyWhereAllRest) {
  FreeGpus one({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  one.take({"c"});
  one.let_rest({{"a", 5}});
  EXPECT_EQ(one.count(), 1);
  EXPECT_THAT(one.give(1), Optional(ElementsAre("b")));
  EXPECT_EQ(one.give(1), std::nullopt) << "c is there, although it is held";
  FreeGpus all({{.id = "a"}, {.id = "b"}});
  all.let_rest({{"a", 9}, {"b", 5}});
  EXPECT_THAT(all.give(2), Optional(ElementsAre("b", "a")));
}

TEST(GpuRests, EndAfterTheirTimeAndBeginOnceForAJob) {
  GpuRests rests(std::chrono::milliseconds(100));
  rests.note("x", {"a"}, 1000);
  rests.note("x", {"a"}, 1050);
  EXPECT_THAT(rests.resting(1099), ElementsAre(testing::Pair("a", 1000)));
  EXPECT_THAT(rests.resting(1100), IsEmpty());
  rests.note("y", {"a", "b"}, 1200);
  EXPECT_THAT(rests.resting(1299), SizeIs(2));
}

TEST_F(LocalGpus, OnWhichADeviceFailedAreNotGivenToTheNextJob) {
  LocalClusterOptions two = with_gpus(2);
  LocalCluster cluster(two);
  JobRequest broken = request("broken", "exit 70");
  broken.script.insert(0, "#!/bin/bash\n#SBATCH --gres=gpu:1\n");
  cluster.submit(broken);
  ASSERT_TRUE(ends(cluster, "broken"));
  EXPECT_THAT(status_of(cluster, "broken").reason, HasSubstr("on GPU-a"));
  cluster.submit(gpu_job("good", 1));
  EXPECT_EQ(seen_by("good"), "GPU-b");
  cluster.submit(gpu_job("waits", 1));
  EXPECT_EQ(status_of(cluster, "waits").reason,
            "waiting for 1 free GPU (0 of 2 free; GPU-a rests after a device fault)");
  cluster.forget("broken");
  EXPECT_EQ(status_of(cluster, "waits").state, JobState::kPending) << "the GPU still rests";
  for (const char* name : {"good", "waits"}) end(name);
  ASSERT_TRUE(ends(cluster, "waits"));
  EXPECT_EQ(seen_by("waits"), "GPU-b");
}

TEST_F(LocalGpus, AreSeenEachByOneJob) {
  LocalCluster cluster(with_gpus(2));
  for (const char* name : {"x", "y", "z"}) {
    EXPECT_EQ(cluster.submit(gpu_job(name, 1)).outcome, SubmitOutcome::kAccepted);
  }
  EXPECT_EQ(seen_by("x"), "GPU-a");
  EXPECT_EQ(seen_by("y"), "GPU-b");
  EXPECT_EQ(status_of(cluster, "y").reason, "on GPU-b");
  EXPECT_EQ(status_of(cluster, "y").gpus, 1);
  EXPECT_EQ(status_of(cluster, "z").state, JobState::kPending);
  EXPECT_THAT(status_of(cluster, "z").reason, HasSubstr("waiting for 1 free GPU (0 of 2 free)"));
  EXPECT_THAT(cluster.describe(), HasSubstr("2 GPUs (0 free), 2 running, 1 waiting"));
  end("y");
  ASSERT_TRUE(ends(cluster, "y"));
  cluster.states();
  EXPECT_EQ(seen_by("z"), "GPU-b");
  end("x");
  end("z");
  ASSERT_TRUE(ends(cluster, "x"));
  ASSERT_TRUE(ends(cluster, "z"));
  EXPECT_THAT(cluster.describe(), HasSubstr("2 GPUs (2 free), 0 running, 0 waiting"));
}

TEST_F(LocalGpus, AreGivenSeveralToAJobThatAsksForSeveralAndNobodyOvertakesIt) {
  LocalCluster cluster(with_gpus(3));
  cluster.submit(gpu_job("one", 1));
  cluster.submit(gpu_job("all", 3));
  cluster.submit(gpu_job("late", 1));
  EXPECT_EQ(seen_by("one"), "GPU-a");
  for (int i = 0; i < 5; ++i) cluster.states();
  EXPECT_FALSE(has_started("late")) << "there are two free GPUs, but another job waits for three";
  EXPECT_THAT(status_of(cluster, "all").reason, HasSubstr("3 free GPUs (2 of 3 free)"));
  end("one");
  ASSERT_TRUE(ends(cluster, "one"));
  cluster.states();
  EXPECT_EQ(seen_by("all"), "GPU-a,GPU-b,GPU-c");
  end("all");
  end("late");
  ASSERT_TRUE(ends(cluster, "late"));
}

TEST_F(LocalGpus, AreKnownAgainAfterARestart) {
  const LocalClusterOptions two = with_gpus(2);
  LocalCluster(two).submit(gpu_job("first", 1));
  ASSERT_EQ(seen_by("first"), "GPU-a");
  LocalCluster again(two);
  again.submit(gpu_job("second", 1));
  again.submit(gpu_job("third", 1));
  EXPECT_EQ(seen_by("second"), "GPU-b");
  again.states();
  EXPECT_FALSE(has_started("third"));
  for (const char* name : {"first", "second", "third"}) end(name);
  ASSERT_TRUE(ends(again, "third"));
}

TEST_F(LocalGpus, AreHeldUntilTheLastProcessHasEndedAlthoughTheWrapperWasKilled) {
  LocalCluster cluster(with_gpus(1));
  cluster.submit(gpu_job("killed", 1));
  ASSERT_EQ(seen_by("killed"), "GPU-a");
  kill(process_of("killed", "started").pid, SIGKILL);
  cluster.submit(gpu_job("next", 1));
  for (int i = 0; i < 5; ++i) cluster.states();
  EXPECT_EQ(status_of(cluster, "killed").state, JobState::kRunning);
  EXPECT_EQ(status_of(cluster, "next").state, JobState::kPending);
  EXPECT_EQ(status_of(cluster, "next").reason, "waiting for 1 free GPU (0 of 1 free)");
  end("killed");
  end("next");
  ASSERT_TRUE(ends(cluster, "killed"));
  ASSERT_TRUE(ends(cluster, "next"));
  EXPECT_EQ(seen_by("next"), "GPU-a");
}

TEST_F(LocalGpus, OfACancelledJobAreFreeWhetherOrNotItHadStarted) {
  LocalCluster cluster(with_gpus(1));
  cluster.submit(gpu_job("runs", 1));
  cluster.submit(gpu_job("waits", 1));
  ASSERT_EQ(seen_by("runs"), "GPU-a");
  EXPECT_TRUE(cluster.cancel("waits"));
  EXPECT_TRUE(becomes_true([&] { return cluster.cancel("runs"); }));
  EXPECT_THAT(cluster.describe(), HasSubstr("1 GPU (1 free)"));
  cluster.submit(gpu_job("next", 1));
  EXPECT_EQ(seen_by("next"), "GPU-a");
  end("next");
  ASSERT_TRUE(ends(cluster, "next"));
}

TEST_F(LocalGpus, AreHiddenFromAJobThatAsksForNoneWhichTakesASlot) {
  LocalClusterOptions one = with_gpus(1);
  one.slots = 1;
  LocalCluster cluster(one);
  cluster.submit(gpu_job("gpu", 1));
  cluster.submit(gpu_job("processor", 0));
  cluster.submit(gpu_job("processor2", 0));
  EXPECT_EQ(seen_by("gpu"), "GPU-a");
  EXPECT_EQ(seen_by("processor"), "");
  EXPECT_EQ(status_of(cluster, "processor2").reason, "waiting for a free slot");
  for (const char* name : {"gpu", "processor", "processor2"}) end(name);
  ASSERT_TRUE(ends(cluster, "processor2"));
}

TEST_F(LocalGpus, LeaveAMachineWithoutThemAsItIs) {
  LocalCluster cluster(options());
  cluster.submit(gpu_job("processor", 0));
  EXPECT_EQ(seen_by("processor"), "unset");
  end("processor");
  ASSERT_TRUE(ends(cluster, "processor"));
}

TEST_F(LocalGpus, ThatAreNotThereAreRefused) {
  LocalCluster cluster(with_gpus(2));
  const SubmitResult refused = cluster.submit(gpu_job("three", 3));
  EXPECT_EQ(refused.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(refused.refusal, Refusal::kJob);
  EXPECT_THAT(refused.message, AllOf(HasSubstr("asks for 3 GPUs"), HasSubstr("has 2")));
  EXPECT_THAT(LocalCluster(options()).submit(gpu_job("one", 1)).message, HasSubstr("has none"));
  EXPECT_THAT(cluster.states().jobs, IsEmpty());
}

TEST_F(LocalGpus, AreWaitedForByAJobOfATimeWhenThereWereMoreAndItStopsNoOther) {
  LocalCluster(with_gpus(1)).submit(gpu_job("first", 1));
  ASSERT_EQ(seen_by("first"), "GPU-a");
  LocalClusterOptions more = with_gpus(2);
  LocalCluster(more).submit(gpu_job("wide", 2));
  LocalCluster fewer(with_gpus(1));
  end("first");
  ASSERT_TRUE(ends(fewer, "first"));
  fewer.submit(gpu_job("next", 1));
  fewer.states();
  EXPECT_EQ(seen_by("next"), "GPU-a");
  EXPECT_THAT(status_of(fewer, "wide").reason,
              HasSubstr("asks for 2 GPUs, and this machine has 1"));
  EXPECT_TRUE(fewer.cancel("wide"));
  end("next");
  ASSERT_TRUE(ends(fewer, "next"));
}

TEST_F(LocalGpus, ThatANeighbourHoldsAreNotFree) {
  LocalCluster daemon(with_gpus(2));
  daemon.submit(gpu_job("search", 1));
  ASSERT_EQ(seen_by("search"), "GPU-a");
  LocalClusterOptions beside = with_gpus(2);
  beside.neighbour = beside.folder;
  beside.folder = folder_ / "doctor";
  LocalCluster doctor(beside);
  doctor.submit(gpu_job("probe", 1));
  EXPECT_EQ(seen_by("probe"), "GPU-b");
  end("search");
  end("probe");
  ASSERT_TRUE(ends(doctor, "probe"));
  ASSERT_TRUE(ends(daemon, "search"));
}

TEST_F(LocalGpus, AreItsFacts) {
  LocalCluster cluster(with_gpus(4));
  cluster.submit(gpu_job("two", 2));
  cluster.submit(gpu_job("four", 4));
  ASSERT_EQ(seen_by("two"), "GPU-a,GPU-b");
  const ClusterFacts facts = cluster.facts();
  ASSERT_TRUE(facts.complete) << facts.problem;
  const NodeFacts& node = facts.site.nodes.value->each.at(0);
  EXPECT_EQ(node.gpus, 4);
  EXPECT_EQ(node.gpus_busy, 2);
  ASSERT_THAT(facts.running, SizeIs(1));
  EXPECT_THAT(facts.running[0].gpus_by_node, ElementsAre(2));
  ASSERT_THAT(facts.waiting, SizeIs(1));
  EXPECT_EQ(facts.waiting[0].status.gpus, 4);
  const auto findings = cluster.examine({});
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_THAT(findings[1].says, HasSubstr("Fake H100 (GPU-a), Fake H100 (GPU-b)"));
  EXPECT_EQ(findings[1].level, Finding::Level::kGood);
  EXPECT_TRUE(cluster.cancel("four"));
  end("two");
  ASSERT_TRUE(ends(cluster, "two"));
}

TEST_F(LocalGpus, WhoseRecordIsDamagedKeepTheJobFromStarting) {
  LocalCluster cluster(with_gpus(1));
  cluster.submit(gpu_job("first", 1));
  ASSERT_EQ(seen_by("first"), "GPU-a");
  cluster.submit(gpu_job("second", 1));
  JobFolder(job_folder("second")).write(kGpusRecord, gpus_record({"GPU-a", "GPU-b"}));
  cluster.states();
  ASSERT_TRUE(ends(cluster, "second"));
  EXPECT_EQ(status_of(cluster, "second").state, JobState::kFailed);
  EXPECT_THAT(status_of(cluster, "second").reason, HasSubstr("is to have 1 GPU, and was given 2"));
  EXPECT_FALSE(has_started("second"));
  end("first");
  ASSERT_TRUE(ends(cluster, "first"));
}

// Each job looks whether anybody else holds its GPU: it makes a folder for it.
TEST_F(LocalGpus, AreNeverSharedWhileTheDaemonIsKilledAgainAndAgain) {
  const LocalClusterOptions two = with_gpus(2);
  const int jobs = 12;
  {
    LocalCluster cluster(two);
    for (int i = 0; i < jobs; ++i) {
      JobRequest job =
          request("k" + std::to_string(i),
                  "mkdir held-$CUDA_VISIBLE_DEVICES || echo $MARGAY_JOB_NAME >> shared\n"
                  "sleep 0.02\nrmdir held-$CUDA_VISIBLE_DEVICES");
      job.script.insert(0, "#!/bin/bash\n#SBATCH --gres=gpu:1\n");
      cluster.submit(job);
    }
  }
  std::mt19937 random(1);
  const auto look_for_ever = [&] {
    LocalCluster cluster(two);
    for (;;) cluster.states();
  };
  for (int i = 0; i < 20; ++i) {
    in_killed_process(look_for_ever, std::uniform_int_distribution<int>(0, 30'000)(random));
  }
  LocalCluster cluster(two);
  for (int i = 0; i < jobs; ++i) {
    const std::string name = "k" + std::to_string(i);
    ASSERT_TRUE(ends(cluster, name));
    EXPECT_EQ(status_of(cluster, name).state, JobState::kCompleted);
    EXPECT_EQ(times_run(name), 1);
  }
  EXPECT_FALSE(fs::exists(folder_ / "work" / "shared"));
}

}  // namespace
}  // namespace slurm
