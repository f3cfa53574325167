// What the policy promises of every plan, tried on random queues and clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "scheduler/forecast/span_text.h"
#include "scheduler/policy/floors.h"
#include "scheduler/policy/plan_text.h"
#include "tests/unit/scheduler/policy/random_snapshot.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::HasSubstr;

// 3,000 in a moment, 100,000 where there is time.
unsigned snapshots() { return std::getenv("MARGAY_LONG") == nullptr ? 3'000 : 100'000; }

void for_each_snapshot(const std::function<void(QueueSnapshot&)>& check) {
  for (unsigned seed = 1; seed <= snapshots(); ++seed) {
    SCOPED_TRACE("snapshot " + std::to_string(seed));
    QueueSnapshot snapshot = RandomSnapshot(seed).take();
    check(snapshot);
    if (testing::Test::HasFailure()) return;
  }
}

const PlanItem& item_of(const QueueSnapshot& snapshot, int64_t id) {
  return snapshot.items.at(static_cast<size_t>(id) - 1);
}

std::map<Priority, int64_t> ready_in(const Plan& made) {
  std::map<Priority, int64_t> ready;
  for (const Decision& decision : made.decisions) {
    const Why why = made.reasons.at(decision.reason).why;
    const bool waits = why == Why::kQueue || decision.verdict == Verdict::kStart;
    if (waits) ++ready[decision.priority];
  }
  return ready;
}

// As the daemon and the cluster make it of the plan, before any of the jobs starts.
void carry_out(const Plan& made, QueueSnapshot& snapshot) {
  for (const JobStart& start : made.starts) {
    PlanItem& item = snapshot.items.at(static_cast<size_t>(start.item_id) - 1);
    item.state = ItemState::kActive;
    item.width = start.width;
    item.waits = item.stoppable = true;
    item.first_job = true;
    item.by_floor = start.floor_over.has_value();
    ++snapshot.busy_slots;
    if (!item.by_floor) ++snapshot.pending[item.priority];
    if (!snapshot.gpus || item.kind < 0) continue;
    const SearchTime& time = *snapshot.times.at(static_cast<size_t>(item.kind));
    const double run = run_seconds(time.model, time.work * item.left, start.width);
    const double most = start.segment > 0 ? static_cast<double>(start.segment) : run * 100;
    place(snapshot.gpus->likely, start.width, std::min(run, most));
    place(snapshot.gpus->late, start.width,
          std::min(bounded(run, time.model, kNinetyPercent), most));
  }
  for (const Widening& widening : made.widenings) {
    snapshot.items.at(static_cast<size_t>(widening.item_id) - 1).stop_asked = true;
  }
  snapshot.idle_since = made.idle_since;
}

TEST(PolicyProperties, EveryItemThatHasNotEndedHasAReason) {
  for_each_snapshot([](const QueueSnapshot& snapshot) {
    const Plan made = plan(snapshot);
    ASSERT_EQ(made.decisions.size(), snapshot.items.size());
    for (const Decision& decision : made.decisions) EXPECT_NE(sentence(made, decision), "");
  });
}

TEST(PolicyProperties, NothingIsBeyondTheLimitsOfPartitionQosAndClass) {
  for_each_snapshot([](const QueueSnapshot& snapshot) {
    const Width node{.gpus_per_node = snapshot.limits.menu.back().gpus_per_node};
    const Plan made = plan(snapshot);
    const auto check = [&](int64_t id, const Width& width, bool anew) {
      const PlanItem& item = item_of(snapshot, id);
      if (anew || width == snapshot.limits.width) return;
      const ClassWidths& rules = snapshot.limits.classes.at(item.priority);
      Width cap = item.finish_by > snapshot.now ? rules.deadline_cap : rules.cap;
      if (item.priority == Priority::kLow) cap = std::max(cap, node);
      EXPECT_LE(width.gpus(), cap.gpus()) << "item " << id;
      const JobBounds bounds = bounds_of(snapshot.bounds, item);
      for (const int most : {snapshot.limits.most_nodes, bounds.most_nodes}) {
        EXPECT_TRUE(most == 0 || width.nodes <= most) << "item " << id;
      }
      EXPECT_TRUE(bounds.most_gpus == 0 || width.gpus() <= bounds.most_gpus) << "item " << id;
    };
    for (const JobStart& start : made.starts) {
      check(start.item_id, start.width, false);
      const int64_t most =
          bounds_of(snapshot.bounds, item_of(snapshot, start.item_id)).most_seconds;
      EXPECT_TRUE(most == 0 || start.segment <= most) << "item " << start.item_id;
    }
    for (const Widening& widening : made.widenings) {
      const PlanItem& item = item_of(snapshot, widening.item_id);
      check(widening.item_id, widening.width, widening.width == *item.width);
    }
  });
}

TEST(PolicyProperties, OnlyUrgencyOrADeadlineThatNothingNarrowerMeetsGivesSeveralNodes) {
  for_each_snapshot([](const QueueSnapshot& snapshot) {
    const Plan made = plan(snapshot);
    ItemWidths widths(snapshot, ready_in(made));
    for (const JobStart& start : made.starts) {
      const PlanItem& item = item_of(snapshot, start.item_id);
      const ItemWidth width = widths.of(item);
      widths.take(item, width);
      if (start.width.nodes == 1 || item.priority == Priority::kUrgent) continue;
      ASSERT_TRUE(width.choice) << "item " << item.id;
      ASSERT_GT(item.finish_by, snapshot.now) << "item " << item.id;
      EXPECT_EQ(width.width, start.width);
      const auto deadline = static_cast<double>(item.finish_by - snapshot.now);
      for (const WidthForecast& narrower : width.choice->forecasts) {
        if (!narrower.admissible || !(narrower.width < start.width)) continue;
        EXPECT_GT(narrower.done_late, deadline) << "item " << item.id;
      }
    }
  });
}

// But for the floors. That nothing is stopped twice is tried where stops take their course
// (plan_again_test.cpp).
TEST(PolicyProperties, APlanThatIsAppliedTwiceStartsNothingMore) {
  for_each_snapshot([](QueueSnapshot& snapshot) {
    snapshot.limits.floors.clear();
    carry_out(plan(snapshot), snapshot);
    const Plan again = plan(snapshot);
    for (const JobStart& start : again.starts) {
      ADD_FAILURE() << "starts item " << start.item_id << ": " << start.explanation;
    }
  });
}

// But for the floors, an item of a lower class changes nothing for those of higher ones: neither
// their order, nor their widths, nor when their GPUs are expected to be free.
TEST(PolicyProperties, BeyondTheFloorsNoLowerItemDelaysAHigherOne) {
  for_each_snapshot([](QueueSnapshot& snapshot) {
    snapshot.limits.floors.clear();
    for (const Priority priority : {Priority::kUrgent, Priority::kHigh, Priority::kNormal}) {
      QueueSnapshot alone = snapshot;
      for (PlanItem& item : alone.items) {
        const bool ready = item.state == ItemState::kQueued;
        if (ready && item.priority > priority) item.state = ItemState::kDone;
      }
      std::vector<std::tuple<int64_t, Width, int64_t>> with;
      std::vector<std::tuple<int64_t, Width, int64_t>> without;
      for (const JobStart& start : plan(snapshot).starts) {
        if (start.priority <= priority)
          with.emplace_back(start.item_id, start.width, start.segment);
      }
      for (const JobStart& start : plan(alone).starts) {
        if (start.priority <= priority) {
          without.emplace_back(start.item_id, start.width, start.segment);
        }
      }
      EXPECT_EQ(with, without) << to_string(priority);
    }
  });
}

// Behind a class with as many waiting jobs as it may have, and more items, only free GPUs are
// given.
TEST(PolicyProperties, NothingIsPutBehindAFullHigherClassWhileNoGpuIsFree) {
  int64_t full = 0;
  for_each_snapshot([&](QueueSnapshot& snapshot) {
    if (!snapshot.gpus) return;
    for (NodeForecast& node : snapshot.gpus->likely) {
      for (double& free : node) free = std::max(free, 1.0);
    }
    snapshot.limits.floors.clear();
    const Plan made = plan(snapshot);
    const auto competes = [&](int64_t id) {
      const auto item = std::find_if(snapshot.items.begin(), snapshot.items.end(),
                                     [id](const PlanItem& one) { return one.id == id; });
      return !runs_elsewhere(snapshot.limits, *item) && asks_of(*item).size.empty();
    };
    for (const Decision& decision : made.decisions) {
      const Reason& reason = made.reasons.at(decision.reason);
      const bool is_full = reason.why == Why::kQueue && reason.jobs > 0 && !reason.apart;
      if (!is_full || !competes(decision.item_id)) continue;
      ++full;
      for (const JobStart& start : made.starts) {
        EXPECT_FALSE(start.priority > decision.priority && competes(start.item_id))
            << start.item_id << " passes " << decision.item_id;
      }
    }
  });
  EXPECT_GT(full, 100);
}

TEST(PolicyProperties, AFloorGivesNoMoreThanItsShare) {
  for_each_snapshot([](const QueueSnapshot& snapshot) {
    const Plan made = plan(snapshot);
    Floors before(snapshot);
    std::map<Priority, int> given;
    for (const JobStart& start : made.starts) {
      if (start.floor_over) given[start.priority] += start.width.gpus();
    }
    for (const auto& [priority, gpus] : given) {
      const Floor& floor = *before.of(priority);
      const bool whole = floor.held + gpus <= floor.gpus() + 1e-9;
      EXPECT_TRUE(whole || floor.held == 0) << to_string(priority);
    }
  });
}

// The first that starts, as the only one that nothing goes before.
TEST(PolicyProperties, MoreGpusNeverMakeTheHeadItemLater) {
  int compared = 0;
  for_each_snapshot([&compared](const QueueSnapshot& snapshot) {
    const Plan made = plan(snapshot);
    if (made.starts.empty() || !snapshot.gpus) return;
    const PlanItem& head = item_of(snapshot, made.starts.front().item_id);
    const auto ready = ready_in(made);
    QueueSnapshot more = snapshot;
    const size_t per_node = more.gpus->likely.front().size();
    more.gpus->likely.emplace_back(per_node, 0.0);
    more.gpus->late.emplace_back(per_node, 0.0);
    const ItemWidth with = ItemWidths(more, ready).of(head);
    const ItemWidth without = ItemWidths(snapshot, ready).of(head);
    if (!with.choice || !without.choice || !with.in_turn || !without.in_turn) return;
    ++compared;
    const auto best = [](const WidthChoice& choice) {
      double least = std::numeric_limits<double>::infinity();
      for (const WidthForecast& one : choice.forecasts) {
        if (one.admissible) least = std::min(least, one.done_likely);
      }
      return least;
    };
    const auto chosen = [](const ItemWidth& width) {
      for (const WidthForecast& one : width.choice->forecasts) {
        if (one.width == width.width) return one;
      }
      return WidthForecast{};
    };
    EXPECT_LE(best(*with.choice), best(*without.choice) + 1e-6);
    if (with.choice->rule == WidthRule::kDeadline) {
      EXPECT_LE(chosen(with).done_late, static_cast<double>(head.finish_by - snapshot.now));
    } else if (with.choice->rule != WidthRule::kAtRisk) {
      EXPECT_LE(chosen(with).done_likely, 1.1 * chosen(without).done_likely + 1e-6);
    }
  });
  EXPECT_GT(compared, 1'000);
}

TEST(PolicyProperties, TheExplanationsFiguresAreThoseThatTheDecisionUsed) {
  for_each_snapshot([](const QueueSnapshot& snapshot) {
    const Plan made = plan(snapshot);
    if (made.starts.empty()) return;
    const JobStart& start = made.starts.front();
    const ItemWidth width =
        ItemWidths(snapshot, ready_in(made)).of(item_of(snapshot, start.item_id));
    EXPECT_EQ(width.width, start.width);
    if (!width.choice) return;
    for (const WidthForecast& one : width.choice->forecasts) {
      if (!one.admissible) continue;
      EXPECT_THAT(start.explanation, HasSubstr(" " + base::counted(one.width.gpus(), "GPU") + " " +
                                               span_text(one.done_likely)));
    }
  });
}

}  // namespace
}  // namespace scheduler
