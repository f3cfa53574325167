// The policy's whole input: the queue, the cluster and what is known of the searches.
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
#include "scheduler/forecast/site_widths.h"
#include "scheduler/policy/fair_share.h"
#include "scheduler/policy/job_bounds.h"

namespace scheduler {

// What an item's own options ask for, as far as it matters to the policy.
struct ItemAsks {
  bool own_options = false;  // options for where or when its job runs, or how large it is
  bool own_width = false;    // options for how many nodes or GPUs it gets
  bool own_room = false;     // own_width, or options for processors or memory
  std::string lane{};        // lane_of() for its options and its shape
  std::string size{};        // size_of() for its options
  // The account, partition, QOS and reservation that its job asks for.
  std::map<std::string, std::string> place{};
};

// An unfinished item. KnownQueue (commands/known_queue.cpp) fills it from db::QueuedItem and
// db::OpenAttempt (db/queue.h). With 100,000 items every byte counts.
struct PlanItem {
  int64_t id = 0;
  db::Priority priority = db::Priority::kNormal;
  db::ItemState state = db::ItemState::kQueued;
  bool cancel_requested = false;
  bool unread = false;  // its micrograph is still to be read
  // From its open attempt, if it has one, like width and started:
  bool stoppable = false;      // its job waits in the cluster or runs
  bool waits = false;          // its job waits in the cluster
  bool stop_asked = false;     // its job was asked for a checkpoint, to resume with another width
  bool first_job : 1 = false;  // the item's first job
  bool by_floor : 1 = false;   // submitted for the floor of its class (floors.h)
  int kind = -1;               // its search's, an index into QueueSnapshot::kinds; -1: not known
  int group = 0;               // its owner's, an index into QueueSnapshot::groups
  int64_t created = 0;
  int64_t not_before = 0;
  int64_t owner = 0;  // uid
  int64_t template_id = 0;
  // Null: it asks for nothing; shared by items that ask for the same.
  std::shared_ptr<const ItemAsks> asks{};
  int64_t finish_by = 0;  // its deadline, seconds since the epoch; 0: none
  std::optional<Width> width{};
  float left = 1;       // share of its search, 0 to 1, that its newest checkpoint lacks
  int64_t started = 0;  // seconds since the epoch
};

// Slurm's limits of a job, by the class of its item and ItemAsks::place.
using PlaceBounds =
    std::map<std::pair<db::Priority, std::map<std::string, std::string>>, JobBounds>;

// The bounds of the place, else those of the class, else none (unlimited).
JobBounds bounds_of(const PlaceBounds& bounds, db::Priority priority,
                    const std::map<std::string, std::string>& place);
JobBounds bounds_of(const PlaceBounds& bounds, const PlanItem& item);

// What the item asks for; nothing if `asks` is null.
const ItemAsks& asks_of(const PlanItem& item);

struct ClusterLimits;
// Whether its job runs in another partition or reservation than the site's, since the item or its
// class names one.
bool runs_elsewhere(const ClusterLimits& limits, const PlanItem& item);
// Whether the job runs elsewhere or the item's own options set its size: then its width is not
// chosen.
bool has_own_place(const ClusterLimits& limits, const PlanItem& item);

// Searches that take equally long: with one template, on images of one size.
struct SearchKind {
  int64_t template_id = 0;
  int64_t image_width = 0;  // pixels; 0: not known
  int64_t image_height = 0;

  bool operator==(const SearchKind&) const = default;
};

// How much of the cluster the site's configuration grants.
struct ClusterLimits {
  int slots = 1;                    // Margay's jobs that run at once
  bool queues = false;              // jobs may also wait in the cluster's own queue
  int max_pending = 0;              // jobs that wait there for each class; 0: max(4, running / 4)
  Width width{.gpus_per_node = 0};  // width of a job
  std::optional<Width> urgent{};    // width of an urgent item's job, if it differs
  std::string urgent_lane{};        // shape by which its lane is named: "nodes"
  // Where the time of a search and the cluster's GPUs are known, the width is chosen from these.
  std::vector<Width> menu{};  // narrowest first
  int most_nodes = 0;         // most nodes of a job in the partition; 0: not limited
  std::map<db::Priority, ClassWidths> classes{};
  // The share of the GPUs, 0 to 1, that a class gets even while more urgent items wait; empty where
  // widths are fixed.
  std::map<db::Priority, double> floors{};
  // Seconds after which a bulk job stops with a checkpoint; 0: it runs to its end.
  int64_t segment = 0;
  // Partition, account, QOS and reservation of a job without options of its own.
  std::map<std::string, std::string> plain_place{};
  // Options of the jobs of a class that override those of all jobs.
  std::map<db::Priority, std::map<std::string, std::string>> class_options{};
};

// What a job of this width gets, in words: "4 nodes (16 GPUs)"; on the processors of a machine
// where jobs do not queue, "1 device".
std::string text_of(const ClusterLimits& limits, const Width& width);

// The width of a class, unless it is chosen for each item.
const Width& width_for(const ClusterLimits& limits, db::Priority priority);

// Whether the partition, and the bounds of its place, let a job have this width.
bool fits(const Width& width, const ClusterLimits& limits, const JobBounds& bounds);

// Whether a job may be stopped for a wider one.
bool may_widen(const ClusterLimits& limits);

// The lane of a job of this width for an item of this lane: a refusal of one width says nothing
// about the others.
std::string lane_of_width(const ClusterLimits& limits, db::Priority priority,
                          const std::string& lane, const Width& width);

// The owners and templates whose files cannot be looked at now, since their file system does not
// answer, each with the reason.
struct HangingFiles {
  std::map<int64_t, std::string> micrographs{};  // reasons by owner
  std::map<int64_t, std::string> unread{};       // for micrographs that are to be read, by owner
  std::map<int64_t, std::string> volumes{};      // reasons by template id
};

// An item's job that could not be stopped for one of this width, and the reason, a clause.
struct KeptJob {
  Width width{};
  std::string why{};

  bool operator==(const KeptJob&) const = default;
};
using NotWidened = std::map<int64_t, KeptJob>;  // by item

struct QueueSnapshot {
  int64_t now = 0;
  // The plan must contain when items are expected to start and to be done.
  bool expects_times = false;
  ClusterLimits limits{};
  int busy_slots = 0;
  std::string pause_reason;  // why nothing may be submitted; empty when it may
  // A fault of the site is being probed by one job at a time. Jobs without options of their own go
  // first, since they have no options that could keep them from starting.
  bool probing = false;
  // Why no job of the lane, or none with this sized_lane(), may be submitted.
  std::map<std::string, std::string> held_lanes{};
  // Lanes of which the cluster has refused a job and accepted none since, held or due to be tried
  // again.
  std::set<std::string> refused_lanes{};
  HangingFiles hanging_files{};
  NotWidened not_widened{};
  std::vector<PlanItem> items{};  // by id; ended ones are ignored
  std::vector<SearchKind> kinds{};
  std::vector<std::optional<SearchTime>> times{};  // by kind; unset: not known
  std::map<int, std::string> no_time{};  // why a kind's time is not known, a clause, by kind
  std::optional<GpuForecast> gpus{};
  PlaceBounds bounds{};
  // Plan::idle_since of the last plan.
  std::map<db::Priority, int64_t> idle_since{};
  // Groups with the decayed GPU-seconds of their ended jobs. Empty or only one: all items belong to
  // the same group.
  std::vector<GroupUse> groups{};
  double usual_job_seconds = 1;  // GPU-seconds of a job whose time is not known
  std::string no_gpus{};         // why the GPUs are not known
  // Where jobs wait in the cluster's own queue:
  int running = 0;  // Margay's running jobs
  // Jobs that wait there for their turn, or will after a stop. Jobs that wait for something of
  // their own, such as a later begin, are not included and do not stop their class.
  std::map<db::Priority, int> pending{};
  // Jobs with own_room are counted separately, by class and owner: they may wait long while others
  // start.
  std::map<std::pair<db::Priority, int64_t>, int> pending_apart{};
  std::map<int64_t, int> stuck{};  // jobs that wait for something of their own, by owner
};

}  // namespace scheduler
