// All that the policy looks at: the queue, the cluster and what is known of the searches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/records.h"
#include "scheduler/config/width.h"
#include "scheduler/policy/fair_share.h"
#include "scheduler/policy/job_bounds.h"
#include "scheduler/policy/site_widths.h"

namespace scheduler {

// What an item's own options ask for, as far as the policy looks at it.
struct ItemAsks {
  bool own_options = false;  // for where or when its job runs, or how large it is
  bool own_width = false;    // how many nodes or GPUs it gets
  bool own_room = false;     // ... or how many processors or how much memory
  std::string lane{};        // lane_of() its options and its shape
  std::string size{};        // size_of() its options
  // The account, partition, QOS and reservation that its job asks for.
  std::map<std::string, std::string> place{};
};

// A field comes from db::QueuedItem or db::OpenAttempt (db/queue.h) by KnownQueue
// (commands/known_queue.cpp). With 100,000 of them every byte counts.
struct PlanItem {
  int64_t id = 0;
  db::Priority priority = db::Priority::kNormal;
  db::ItemState state = db::ItemState::kQueued;
  bool cancel_requested = false;
  bool unread = false;  // its micrograph is still to be read
  // Of its open attempt, if it has one, as are its width and its start:
  bool stoppable = false;      // its job waits in the cluster or runs
  bool waits = false;          // its job waits in the cluster
  bool stop_asked = false;     // its job was asked for a checkpoint, to resume with another width
  bool first_job : 1 = false;  // of the item
  bool by_floor : 1 = false;   // submitted for the floor of its class (floors.h)
  int kind = -1;               // of its search: index of QueueSnapshot::kinds; -1: not known
  int group = 0;               // of its owner: index of QueueSnapshot::groups
  int64_t created = 0;
  int64_t not_before = 0;
  int64_t owner = 0;  // uid
  int64_t template_id = 0;
  std::shared_ptr<const ItemAsks> asks{};  // null: for nothing; shared by those that ask the same
  int64_t finish_by = 0;                   // its deadline, seconds since the epoch; 0: none
  std::optional<Width> width{};
  float left = 1;       // the share of its search that its newest checkpoint lacks
  int64_t started = 0;  // seconds since the epoch
};

// What Slurm lets a job have, by the class of its item and ItemAsks::place.
using PlaceBounds =
    std::map<std::pair<db::Priority, std::map<std::string, std::string>>, JobBounds>;

// Those of its class where its own place has none; unlimited where neither has.
JobBounds bounds_of(const PlaceBounds& bounds, db::Priority priority,
                    const std::map<std::string, std::string>& place);
JobBounds bounds_of(const PlaceBounds& bounds, const PlanItem& item);

// What an item that has none asks for.
const ItemAsks& asks_of(const PlanItem& item);

struct ClusterLimits;
// Whether its job runs in another partition or reservation than those of the site: it, or its
// class, names one.
bool runs_elsewhere(const ClusterLimits& limits, const PlanItem& item);
// Whether it does, or is as large as the item's own options say: its width is then not chosen.
bool has_own_place(const ClusterLimits& limits, const PlanItem& item);

// Searches that take as long as each other: of one template, on images of one size.
struct SearchKind {
  int64_t template_id = 0;
  int64_t image_width = 0;  // pixels; 0: not known
  int64_t image_height = 0;

  bool operator==(const SearchKind&) const = default;
};

// How much of the cluster the site's configuration grants.
struct ClusterLimits {
  int slots = 1;                    // Margay's jobs at once
  bool queues = false;              // jobs may also wait in the cluster's own queue
  int max_pending = 0;              // waiting there for each class; 0: max(4, running / 4)
  Width width{.gpus_per_node = 0};  // of a job
  std::optional<Width> urgent{};    // of one for an urgent item, when it differs
  std::string urgent_lane{};        // what its lane is named by: "nodes"
  // Where the time of a search and the cluster's GPUs are known, the width is chosen from these.
  std::vector<Width> menu{};  // narrowest first
  int most_nodes = 0;         // of a job in the partition; 0: not limited
  std::map<db::Priority, ClassWidths> classes{};
  // The share of the GPUs that a class gets whatever waits above it; none where widths are fixed.
  std::map<db::Priority, double> floors{};
  // Seconds after which a bulk job stops with a checkpoint; 0: it runs until its search is done.
  int64_t segment = 0;
  // Partition, account, QOS and reservation of a job without options of its own.
  std::map<std::string, std::string> plain_place{};
  // What the jobs of a class ask for over what all do.
  std::map<db::Priority, std::map<std::string, std::string>> class_options{};
};

// What a job of this width gets, in words: "4 nodes (16 GPUs)"; on the processor of a machine where
// jobs do not queue, "1 device".
std::string text_of(const ClusterLimits& limits, const Width& width);

// The width of a class, unless it is chosen for each item.
const Width& width_for(const ClusterLimits& limits, db::Priority priority);

// Whether a job may be stopped for a wider one.
bool may_widen(const ClusterLimits& limits);

// The lane of a job of this width for an item of this lane: what the cluster refuses one width says
// nothing about the others.
std::string lane_of_width(const ClusterLimits& limits, db::Priority priority,
                          const std::string& lane, const Width& width);

// Whose files cannot be looked at just now, since their file system does not answer, and why.
struct HangingFiles {
  std::map<int64_t, std::string> micrographs{};  // by owner
  std::map<int64_t, std::string> unread{};       // micrographs that are to be read, by owner
  std::map<int64_t, std::string> volumes{};      // by template
};

// An item's job that could not be stopped for one of this width, and why, a clause.
struct KeptJob {
  Width width{};
  std::string why{};

  bool operator==(const KeptJob&) const = default;
};
using NotWidened = std::map<int64_t, KeptJob>;  // by item

struct QueueSnapshot {
  int64_t now = 0;
  bool expects_times = false;  // the plan is to say when items start and are done, as expected
  ClusterLimits limits{};
  int busy_slots = 0;
  std::string pause_reason;  // why nothing may be submitted; empty when it may
  // A fault of the site is being probed by one job at a time. Jobs without options of their own go
  // first, since nothing of theirs can keep them from starting.
  bool probing = false;
  // Why no job of the lane may be submitted, or none of that sized_lane().
  std::map<std::string, std::string> held_lanes{};
  // Those of which the cluster has refused a job and taken none since, held or due to be tried
  // again.
  std::set<std::string> refused_lanes{};
  HangingFiles hanging_files{};
  NotWidened not_widened{};
  std::vector<PlanItem> items{};  // by id; ended ones are ignored
  std::vector<SearchKind> kinds{};
  std::vector<std::optional<SearchTime>> times{};  // of each kind, where it is known
  std::map<int, std::string> no_time{};            // why it is not, a clause, by kind
  std::optional<GpuForecast> gpus{};
  PlaceBounds bounds{};
  // Plan::idle_since of the last plan.
  std::map<db::Priority, int64_t> idle_since{};
  // With the GPU-seconds of their jobs that have ended, decayed. Empty, or only one: all items are
  // of the same group.
  std::vector<GroupUse> groups{};
  double usual_job_seconds = 1;  // GPU-seconds of a job of which the time is not known
  std::string no_gpus{};         // why they are not known
  // Where jobs wait in the cluster's own queue:
  int running = 0;  // Margay's jobs
  // Waiting there for their turn, or about to after a stop. Jobs that wait for something of their
  // own, such as a later begin, are not among them and stop no class.
  std::map<db::Priority, int> pending{};
  // Those with own_room wait for their turn apart, by class and owner: they may wait for long while
  // others start.
  std::map<std::pair<db::Priority, int64_t>, int> pending_apart{};
  std::map<int64_t, int> stuck{};  // those that wait for something of their own, by owner
};

}  // namespace scheduler
