// The order of the queue and what starts: longer than 400 lines, as the rules are tried together.
#include "scheduler/policy/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/policy/cluster_limits.h"
#include "tests/unit/scheduler/policy/decided.h"
#include "tests/unit/scheduler/policy/example_limits.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PlanItem item(int64_t id, Priority priority, int64_t created = 0) {
  return {.id = id, .priority = priority, .created = created};
}

QueueSnapshot snapshot_of(std::vector<PlanItem> items, int slots, int busy = 0) {
  QueueSnapshot snapshot;
  snapshot.now = 1000;
  snapshot.limits.slots = slots;
  snapshot.busy_slots = busy;
  snapshot.items = std::move(items);
  return snapshot;
}

std::string explanation(const QueueSnapshot& snapshot, int64_t id) {
  for (const Decided& decision : decided(snapshot)) {
    if (decision.item_id == id) return decision.explanation;
  }
  return "no decision";
}

TEST(Policy, ClassGoesBeforeClassWhateverTheAge) {
  EXPECT_THAT(started(snapshot_of({item(1, Priority::kLow, 1), item(2, Priority::kNormal, 2),
                                   item(3, Priority::kHigh, 3), item(4, Priority::kUrgent, 4),
                                   item(5, Priority::kLive, 5)},
                                  5)),
              ElementsAre(5, 4, 3, 2, 1));
}

// Slurm knows nothing of the classes: what is in its queue first gets the GPUs first.
TEST(Policy, NothingIsPutInTheClustersQueueBehindAFullHigherClassUnlessAGpuIsFree) {
  QueueSnapshot snapshot =
      snapshot_of({item(1, Priority::kHigh), item(2, Priority::kLow),
                   asking(item(3, Priority::kLow), {.own_options = true, .size = "time=1-0"})},
                  1000);
  snapshot.limits = example_limits();
  snapshot.limits.max_pending = 4;
  snapshot.pending[Priority::kHigh] = 4;
  const ClusterForecast busy(kExampleNodes, NodeForecast(4, 600.0));
  snapshot.gpus = GpuForecast{.likely = busy, .late = busy};
  EXPECT_THAT(started(snapshot), ElementsAre(3)) << "its own size has no part in this";
  EXPECT_THAT(explanation(snapshot, 2), HasSubstr("waits: 1 item before it (1 high)"));
  snapshot.gpus->likely[7][2] = 0;
  snapshot.gpus->free_now = 1;
  EXPECT_THAT(started(snapshot), ElementsAre(2, 3)) << "a GPU is free";
  snapshot.gpus->likely[7][2] = 600;
  snapshot.pending[Priority::kHigh] = 3;
  EXPECT_THAT(started(snapshot), ElementsAre(1, 2, 3)) << "nothing of class high is left";
  snapshot.pending[Priority::kHigh] = 4;
  snapshot.gpus.reset();
  EXPECT_THAT(started(snapshot), ElementsAre(2, 3)) << "the GPUs are not known";
}

// Jobs that will start at once wait for nothing: the higher class gets all GPUs that are free.
TEST(Policy, BeyondThoseThatMayWaitAsManyJobsAreSubmittedAsGpusAreFree) {
  QueueSnapshot snapshot = snapshot_of({}, 1000);
  snapshot.limits = example_limits();
  snapshot.limits.max_pending = 0;
  snapshot.limits.classes.clear();
  snapshot.limits.width = kNarrow;
  for (int64_t id = 1; id <= 12; ++id) {
    snapshot.items.push_back(item(id, id <= 8 ? Priority::kHigh : Priority::kLow));
  }
  EXPECT_EQ(started(snapshot).size(), 8U) << "four of each class, while no GPU is known to be free";
  ClusterForecast free(kExampleNodes, NodeForecast(4, 600.0));
  for (size_t node = 0; node < 7; ++node) free[node][0] = 0;
  snapshot.gpus = GpuForecast{.likely = free, .late = free, .free_now = 7};
  EXPECT_THAT(started(snapshot), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  // Jobs that wait, whatever they wait for, are taken to want them.
  snapshot.items.front().state = ItemState::kActive;
  snapshot.items.front().waits = true;
  snapshot.items.front().width = Width{.gpus_per_node = 2};
  EXPECT_THAT(started(snapshot), ElementsAre(2, 3, 4, 5, 6));
  snapshot.limits.max_pending = 3;
  EXPECT_THAT(started(snapshot), ElementsAre(2, 3, 4, 9, 10)) << "the site sets the pace";
}

TEST(Policy, InAClassTheOldestGoesFirstAndThenTheLowestNumber) {
  EXPECT_THAT(started(snapshot_of({item(7, Priority::kNormal, 30), item(8, Priority::kNormal, 10),
                                   item(9, Priority::kNormal, 20), item(6, Priority::kNormal, 20)},
                                  4)),
              ElementsAre(8, 6, 9, 7));
}

PlanItem owned(int64_t id, int64_t owner, int64_t created, ItemState state = ItemState::kQueued) {
  return {
      .id = id, .priority = Priority::kNormal, .state = state, .created = created, .owner = owner};
}

TEST(Policy, InAClassTheOwnersTakeTurns) {
  const std::vector<PlanItem> items = {owned(1, 1000, 1), owned(2, 1000, 2), owned(3, 1000, 3),
                                       owned(4, 1001, 4), owned(5, 1001, 5), owned(6, 1002, 6)};
  EXPECT_THAT(started(snapshot_of(items, 9)), ElementsAre(1, 4, 6, 2, 5, 3));
  EXPECT_THAT(explanation(snapshot_of(items, 9), 4),
              HasSubstr("its owner's turn among 5 ready items of class normal"));
}

TEST(Policy, WhoHasJobsWaitsForThoseWhoHaveNone) {
  EXPECT_THAT(started(snapshot_of({owned(1, 1000, 1, ItemState::kActive), owned(2, 1000, 2),
                                   owned(3, 1001, 3), owned(4, 1001, 4)},
                                  9)),
              ElementsAre(3, 2, 4));
}

TEST(Policy, AHeldPlainLaneHoldsNoOtherLane) {
  const PlanItem elsewhere = asking(item(2, Priority::kNormal, 2), {.lane = "partition=cpu"});
  QueueSnapshot snapshot = snapshot_of({item(1, Priority::kNormal, 1), elsewhere}, 9);
  snapshot.held_lanes = {{"", "partition=gpu is paused by root"}};
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_EQ(explanation(snapshot, 1), "waits: partition=gpu is paused by root");
}

TEST(Policy, FilesThatCannotBeLookedAtHoldTheirOwnersItemsAndThoseOfTheirTemplate) {
  PlanItem unread = owned(2, 1001, 2);
  unread.unread = true;
  PlanItem with_volume = owned(3, 1002, 3);
  with_volume.template_id = 7;
  QueueSnapshot snapshot =
      snapshot_of({owned(1, 1000, 1), unread, with_volume, owned(4, 1001, 4)}, 9);
  snapshot.hanging_files = {.micrographs = {{1000, "the file system of '/a' has not answered"}},
                            .unread = {{1001, "the file system of '/b' has not answered"}},
                            .volumes = {{7, "the file system of '/v' has not answered"}}};
  EXPECT_THAT(started(snapshot), ElementsAre(4));
  EXPECT_EQ(explanation(snapshot, 1), "waits: the file system of '/a' has not answered");
  EXPECT_EQ(explanation(snapshot, 2),
            "waits: its micrograph is being read, or those of items before it; the file system of "
            "'/b' has not answered");
  EXPECT_EQ(explanation(snapshot, 3), "waits: the file system of '/v' has not answered");
}

TEST(Policy, WhileOneJobProbesForAllPlainItemsGoFirst) {
  const PlanItem later = asking(item(1, Priority::kUrgent, 1), {.own_options = true});
  const PlanItem elsewhere = asking(item(2, Priority::kHigh, 2), {.lane = "qos=short"});
  QueueSnapshot snapshot =
      snapshot_of({later, elsewhere, item(3, Priority::kLow, 3), item(4, Priority::kNormal, 4)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(1));
  snapshot.probing = true;
  EXPECT_THAT(started(snapshot), ElementsAre(4));
  EXPECT_THAT(explanation(snapshot, 4), HasSubstr("is tried first, to see whether jobs run again"));
  snapshot.limits.slots = 9;
  EXPECT_THAT(started(snapshot), ElementsAre(4, 3, 1, 2)) << "if the first cannot be submitted";
}

TEST(Policy, OnlyFreeSlotsAreGivenAway) {
  const std::vector<PlanItem> items = {item(1, Priority::kNormal), item(2, Priority::kNormal),
                                       item(3, Priority::kNormal)};
  EXPECT_THAT(started(snapshot_of(items, 4, 2)), ElementsAre(1, 2));
  EXPECT_THAT(started(snapshot_of(items, 4, 4)), IsEmpty());
  // Fewer slots than jobs run: the site has made them fewer.
  EXPECT_THAT(started(snapshot_of(items, 1, 3)), IsEmpty());
}

TEST(Policy, EachJobGetsOneDevice) {
  for (const Decided& decision :
       decided(snapshot_of({item(1, Priority::kUrgent), item(2, Priority::kLow)}, 8))) {
    EXPECT_EQ(decision.width, Width{.gpus_per_node = 0});
    EXPECT_THAT(decision.explanation, HasSubstr("so it gets 1 device"));
  }
}

TEST(Policy, HeldActiveCancelledAndEndedItemsAreNotStarted) {
  std::vector<PlanItem> items;
  for (const ItemState state :
       {ItemState::kHeld, ItemState::kActive, ItemState::kDone, ItemState::kFailed,
        ItemState::kCancelled, ItemState::kQuarantined, ItemState::kQueued}) {
    PlanItem one = item(static_cast<int64_t>(items.size()) + 1, Priority::kUrgent);
    one.state = state;
    items.push_back(one);
  }
  items.back().cancel_requested = true;
  const QueueSnapshot snapshot = snapshot_of(items, 10);
  EXPECT_THAT(started(snapshot), IsEmpty());
  EXPECT_EQ(decided(snapshot).size(), 3u) << "ended items need no decision";
}

TEST(Policy, AnItemIsReadyOnlyOnceItsMicrographWasRead) {
  PlanItem unread = item(1, Priority::kUrgent, 1);
  unread.unread = true;
  QueueSnapshot snapshot = snapshot_of({unread, item(2, Priority::kLow, 2)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_THAT(explanation(snapshot, 1), HasSubstr("its micrograph is being read"));
  snapshot.items[0].unread = false;
  EXPECT_THAT(started(snapshot), ElementsAre(1));
}

TEST(Policy, AnItemOfALaneThatIsHeldIsPassedAndSaysWhy) {
  const PlanItem own = asking(item(1, Priority::kUrgent), {.lane = "qos=short"});
  QueueSnapshot snapshot = snapshot_of({own, item(2, Priority::kLow)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(1));
  snapshot.held_lanes = {{"qos=short", "its limit is reached"}};
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_EQ(explanation(snapshot, 1), "waits: its limit is reached");
}

TEST(Policy, ASizeIsHeldInItsLaneOnly) {
  const PlanItem plain = asking(item(1, Priority::kUrgent), {.size = "time=10"});
  const PlanItem own = asking(item(2, Priority::kLow), {.lane = "qos=long", .size = "time=10"});
  QueueSnapshot snapshot = snapshot_of({plain, own}, 1);
  snapshot.held_lanes = {{"time=10", "too long"}};
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  snapshot.held_lanes = {{"qos=long with time=10", "too long there"}};
  EXPECT_THAT(started(snapshot), ElementsAre(1));
  EXPECT_EQ(explanation(snapshot, 2), "waits: too long there");
}

TEST(Policy, ASpacedRetryWaitsForItsTimeAndIsPassed) {
  PlanItem later = item(1, Priority::kUrgent);
  later.not_before = 1060;
  QueueSnapshot snapshot = snapshot_of({later, item(2, Priority::kLow)}, 1);
  EXPECT_THAT(started(snapshot), ElementsAre(2));
  EXPECT_EQ(explanation(snapshot, 1), "waiting 60 seconds before a retry");
  snapshot.now = 1060;
  EXPECT_THAT(started(snapshot), ElementsAre(1));
}

TEST(Policy, AWaitingItemShowsWhatIsAheadOfIt) {
  const QueueSnapshot snapshot = snapshot_of({item(1, Priority::kHigh), item(2, Priority::kHigh),
                                              item(3, Priority::kNormal), item(4, Priority::kLow)},
                                             1, 1);
  EXPECT_EQ(explanation(snapshot, 4),
            "waits: 3 items before it (2 high, 1 normal); 1 of 1 device slot busy");
  EXPECT_EQ(explanation(snapshot, 1), "waits: next in the queue; 1 of 1 device slot busy");
}

TEST(Policy, AStartedItemShowsWhy) {
  EXPECT_EQ(explanation(snapshot_of({item(1, Priority::kHigh), item(2, Priority::kHigh)}, 2, 1), 1),
            "first of 2 ready items of class high and no higher class waits; 1 of 2 device slots "
            "busy, so it gets 1 device");
}

TEST(Policy, PausedSubmissionsStartNothingAndGiveTheReason) {
  QueueSnapshot snapshot = snapshot_of({item(1, Priority::kUrgent)}, 1);
  snapshot.pause_reason = "the disk is full";
  EXPECT_THAT(started(snapshot), IsEmpty());
  EXPECT_THAT(explanation(snapshot, 1), HasSubstr("the disk is full"));
}

QueueSnapshot queueing(std::vector<PlanItem> items, int slots) {
  QueueSnapshot snapshot = snapshot_of(std::move(items), slots);
  snapshot.limits.queues = true;
  snapshot.limits.width = {};
  return snapshot;
}

std::vector<PlanItem> many(int count, Priority priority, int64_t first_id = 1) {
  std::vector<PlanItem> items;
  for (int i = 0; i < count; ++i) items.push_back(item(first_id + i, priority));
  return items;
}

TEST(Policy, InTheClustersQueueWaitFourJobsOfAClassOrAQuarterOfThoseThatRun) {
  QueueSnapshot snapshot = queueing(many(30, Priority::kNormal), 100);
  EXPECT_EQ(started(snapshot).size(), 4u);
  snapshot.pending[Priority::kNormal] = 3;
  EXPECT_EQ(started(snapshot).size(), 1u);
  snapshot.running = 64;
  EXPECT_EQ(started(snapshot).size(), 13u);
  snapshot.limits.max_pending = 5;
  EXPECT_EQ(started(snapshot).size(), 2u) << "the site's own number";
  snapshot.limits.queues = false;
  EXPECT_EQ(started(snapshot).size(), 30u);
}

TEST(Policy, AClassWhoseShareWaitsInTheClusterLetsTheOthersPass) {
  auto items = many(6, Priority::kUrgent);
  for (const PlanItem& low : many(6, Priority::kLow, 11)) items.push_back(low);
  const QueueSnapshot snapshot = queueing(items, 100);
  EXPECT_THAT(started(snapshot), ElementsAre(1, 2, 3, 4, 11, 12, 13, 14));
  EXPECT_EQ(explanation(snapshot, 5),
            "waits: 4 jobs of class urgent wait in Slurm already; next in the queue; 4 of 100 jobs "
            "in Slurm");
  EXPECT_EQ(explanation(snapshot, 11),
            "first of 6 ready items of class low; each higher class already has as many jobs "
            "waiting in Slurm as it may; 4 of 100 jobs in Slurm, so it gets 1 GPU");
}

TEST(Policy, ItemsGetTheSitesWidth) {
  QueueSnapshot snapshot = queueing(many(1, Priority::kNormal), 8);
  snapshot.limits.width = {.nodes = 4, .gpus_per_node = 4};
  EXPECT_EQ(decided(snapshot)[0].width, snapshot.limits.width);
  EXPECT_THAT(decided(snapshot)[0].explanation, HasSubstr("so it gets 4 nodes (16 GPUs)"));
}

constexpr Width kOneGpu{};

QueueSnapshot with_wide_jobs(std::vector<PlanItem> items, int slots = 100) {
  QueueSnapshot snapshot = queueing(std::move(items), slots);
  snapshot.limits.width = kOneGpu;
  snapshot.limits.urgent = kFourNodes;
  return snapshot;
}

PlanItem running(int64_t id, Priority priority, const Width& width = kOneGpu) {
  PlanItem item{.id = id, .priority = priority, .state = ItemState::kActive};
  item.width = width;
  item.stoppable = true;
  return item;
}

TEST(Policy, AnUrgentItemGetsSeveralNodesAndNoOtherClassDoes) {
  const QueueSnapshot snapshot =
      with_wide_jobs({item(1, Priority::kUrgent), item(2, Priority::kHigh),
                      item(3, Priority::kNormal), item(4, Priority::kLow)});
  for (const Decided& decision : decided(snapshot)) {
    const bool urgent = decision.item_id == 1;
    EXPECT_EQ(decision.width, urgent ? kFourNodes : kOneGpu) << decision.item_id;
    EXPECT_THAT(decision.explanation,
                HasSubstr(urgent ? "so it gets 4 nodes (16 GPUs), since it is urgent"
                                 : "so it gets 1 GPU, since only urgent items get 4 nodes (16 "
                                   "GPUs)"));
  }
}

TEST(Policy, WithoutAShapeOfTheirOwnUrgentItemsGetWhatAllGet) {
  QueueSnapshot snapshot = with_wide_jobs({item(1, Priority::kUrgent)});
  snapshot.limits.urgent.reset();
  EXPECT_EQ(decided(snapshot)[0].width, kOneGpu);
  EXPECT_THAT(decided(snapshot)[0].explanation, testing::EndsWith("so it gets 1 GPU"));
  snapshot.items = {running(1, Priority::kUrgent)};
  EXPECT_THAT(widened(snapshot), IsEmpty());
}

TEST(Policy, AnItemThatWasPromotedIsStoppedAndResumesWide) {
  const QueueSnapshot snapshot =
      with_wide_jobs({running(1, Priority::kUrgent), running(2, Priority::kNormal),
                      running(3, Priority::kUrgent, kFourNodes)});
  EXPECT_THAT(widened(snapshot), ElementsAre(1));
  EXPECT_EQ(explanation(snapshot, 1),
            "has 1 GPU, and urgent items get 4 nodes (16 GPUs): it is stopped with a checkpoint "
            "and resumes with those");
}

TEST(Policy, AJobIsStoppedOnce) {
  QueueSnapshot snapshot = with_wide_jobs({running(1, Priority::kUrgent)});
  snapshot.items[0].stop_asked = true;
  EXPECT_THAT(widened(snapshot), IsEmpty());
  EXPECT_EQ(explanation(snapshot, 1),
            "stopping with a checkpoint, to resume with 4 nodes (16 GPUs)");
  snapshot.items[0].stop_asked = false;
  snapshot.items[0].stoppable = false;
  EXPECT_THAT(widened(snapshot), IsEmpty()) << "nobody knows its job, or it is ending";
}

TEST(Policy, AnUrgentItemThatHasAsMuchOrSaysItselfHowMuchIsLeftAlone) {
  EXPECT_THAT(widened(with_wide_jobs({running(1, Priority::kUrgent, kFourNodes)})), IsEmpty());
  const Width more{.nodes = 8, .gpus_per_node = 4};
  EXPECT_THAT(widened(with_wide_jobs({running(1, Priority::kUrgent, more)})), IsEmpty());
  const PlanItem modest = running(1, Priority::kUrgent);
  EXPECT_THAT(widened(with_wide_jobs({modest})), ElementsAre(1));
  EXPECT_THAT(widened(with_wide_jobs({asking(modest, {.own_width = true})})), IsEmpty());
}

TEST(Policy, NothingIsStoppedThatCouldNotBeSubmittedAgain) {
  QueueSnapshot snapshot = with_wide_jobs({running(1, Priority::kUrgent)});
  snapshot.pause_reason = "the disk is full";
  EXPECT_THAT(widened(snapshot), IsEmpty());
  EXPECT_THAT(explanation(snapshot, 1),
              HasSubstr("as soon as jobs are submitted again (the disk is full)"));
  snapshot.pause_reason.clear();
  snapshot.pending[Priority::kUrgent] = 4;
  EXPECT_THAT(widened(snapshot), IsEmpty());
  EXPECT_THAT(explanation(snapshot, 1),
              HasSubstr("as soon as fewer than 4 jobs of class urgent wait in Slurm"));
  snapshot.items[0].waits = true;
  EXPECT_THAT(widened(snapshot), ElementsAre(1)) << "it gives its own place up";
}

TEST(Policy, OfManyThatWerePromotedAsManyAreStoppedAsMayWait) {
  std::vector<PlanItem> items;
  for (int64_t id = 1; id <= 6; ++id) items.push_back(running(id, Priority::kUrgent));
  items.push_back(item(7, Priority::kUrgent));
  EXPECT_THAT(widened(with_wide_jobs(items)), ElementsAre(1, 2, 3)) << "the fourth place is 7's";
}

TEST(Policy, TheConfigurationDecidesWhatUrgentItemsGet) {
  Config config;
  config.cluster = ClusterKind::kSlurm;
  EXPECT_FALSE(limits_of(config).urgent);
  config.slurm.urgent_shape = Shape::kGpu;
  EXPECT_FALSE(limits_of(config).urgent) << "as all";
  config.slurm.urgent_shape = Shape::kNodes;
  config.slurm.nodes = 8;
  ASSERT_TRUE(limits_of(config).urgent);
  EXPECT_EQ(limits_of(config).urgent, (Width{.nodes = 8, .gpus_per_node = 4}));
  EXPECT_EQ(limits_of(config).urgent_lane, "nodes");
  config.cluster = ClusterKind::kLocal;
  EXPECT_FALSE(limits_of(config).urgent);
}

TEST(Policy, TheConfigurationDecidesWhatTheClusterGives) {
  Config config;
  config.local.slots = 3;
  EXPECT_EQ(limits_of(config).slots, 3);
  EXPECT_EQ(text_of(limits_of(config), limits_of(config).width), "1 device");
  EXPECT_FALSE(limits_of(config).queues);
  config.local.found = {{.id = "GPU-a"}, {.id = "GPU-b"}, {.id = "GPU-c"}, {.id = "GPU-d"}};
  EXPECT_EQ(limits_of(config).slots, 4);
  EXPECT_EQ(text_of(limits_of(config), limits_of(config).width), "1 GPU");
  config.local.gpus_per_search = 2;
  EXPECT_EQ(limits_of(config).slots, 2);
  EXPECT_EQ(text_of(limits_of(config), limits_of(config).width), "1 node (2 GPUs)");
  EXPECT_FALSE(limits_of(config).queues);
  config.cluster = ClusterKind::kSlurm;
  config.slurm.max_jobs = 40;
  config.slurm.max_pending = 7;
  EXPECT_EQ(limits_of(config).slots, 40);
  EXPECT_EQ(limits_of(config).max_pending, 7);
  EXPECT_TRUE(limits_of(config).queues);
  const std::vector<std::pair<Shape, std::string>> words = {{Shape::kCpu, "CPU"},
                                                            {Shape::kGpu, "1 GPU"},
                                                            {Shape::kNode, "1 node (4 GPUs)"},
                                                            {Shape::kNodes, "4 nodes (16 GPUs)"}};
  for (const auto& [shape, word] : words) {
    config.slurm.shape = shape;
    EXPECT_EQ(text_of(limits_of(config), limits_of(config).width), word);
  }
}

TEST(Policy, TheSameSnapshotGivesTheSameDecisionsInAnyOrderOfItems) {
  std::vector<PlanItem> items;
  for (int i = 1; i <= 12; ++i) {
    items.push_back(item(i, static_cast<Priority>(i % 5), (i * 7) % 4));
  }
  const auto forwards = started(snapshot_of(items, 12));
  std::reverse(items.begin(), items.end());
  EXPECT_EQ(started(snapshot_of(items, 12)), forwards);
}

}  // namespace
}  // namespace scheduler
