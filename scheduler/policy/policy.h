// Which item runs next, and why: a pure function of a snapshot, without clock, database or network.
//
// The rules: class goes before class. Within a class the group goes first that has used the least
// for its share (fair_share.h), and within a group the owners take turns. Of an owner's items those
// with a deadline go first, the one with the least time to spare before the others (deadlines.h),
// and then the oldest. As many jobs start as the cluster accepts from Margay. Each has the width
// that item_widths.h chooses, or the site's where the figures for a choice are missing. The job of
// an urgent item is stopped with a checkpoint and resumed on more GPUs where that makes it done
// clearly sooner. Where jobs wait in the cluster's own queue, only a few of each class wait there;
// the rest waits here, where an urgent item can still pass it.
//
// Where each rule is implemented: whether an item is ready, holds.h; the order, ready_order.h,
// fair_share.h and deadlines.h; how many start, filling.h; the floors of classes, floors.h; widths,
// choose_width.h (one item) and item_widths.h (in a queue); jobs that are stopped for others,
// item_widths.h and spare_widths.cpp; segments and time limits, item_widths.h; expected times,
// expected_times.h. The words for users are in plan_text.h and width_text.h. docs/policy.md has
// every rule.
//
// A new rule: its key in config/policy_section.cpp and PolicyOptions, and from there, by
// cluster_limits.cpp, in ClusterLimits; its decision in a pure file of its own, called where jobs
// start (decide_ready(), start_one_by_floor()) and where they are widened (decide_wider()), or for
// an order in ready_order.cpp; its reason in plan.h, whose Why is also compared in
// item_forecast.cpp, commands/plan_view.cpp and commands/published_plan.cpp; its
// words in plan_text.cpp; what it means for expected times in expected_times.cpp, and for `margay
// simulate` in simulate/. properties_test.cpp tries it on random queues.
#pragma once

#include <set>

#include "db/records.h"
#include "scheduler/policy/plan.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

bool has_ended(db::ItemState state);

// The classes whose ready items wait only because as many jobs wait in the cluster as may.
std::set<db::Priority> full_classes(const QueueSnapshot& snapshot);

Plan plan(const QueueSnapshot& snapshot);

}  // namespace scheduler
