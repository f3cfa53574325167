// The width of each item that a plan starts, one after the other: choose_width() on a forecast in
// which the GPUs of the items before it are taken. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/policy/choose_width.h"
#include "scheduler/policy/queue_snapshot.h"
#include "scheduler/policy/site_widths.h"

namespace scheduler {

struct ItemWidth {
  Width width{};
  // What each width would have meant. None where the time of its search, the free GPUs or the
  // class's widths are not known, or where its own options decide: then the width is the site's.
  std::optional<WidthChoice> choice{};
  std::string not_chosen{};  // where a width was to be chosen: why none was, a clause
  bool tail = false;         // beyond its class's cap, since nobody else waits
  bool in_turn = true;       // of several urgent items: one after the other at this width
  int64_t urgent = 0;        // that share the GPUs, this one included
  int64_t sharing = 0;       // ready items of its class and higher ones, this one included
  int usable_gpus = 0;       // what these share
  int64_t not_placed = 0;    // jobs that go first and are not in the forecast
  int64_t segment = 0;       // JobStart::segment
  double done_now = 0;       // from instead(): seconds until it is done if its job is not stopped,
  double done_then = 0;      // from narrower(): and if it is
};

class ItemWidths {
 public:
  // `ready`: how many items of each class can start. The snapshot must outlive this.
  ItemWidths(const QueueSnapshot& snapshot, std::map<db::Priority, int64_t> ready);

  ItemWidth of(const PlanItem& item);
  // This width and its segment, as if it had been chosen.
  ItemWidth at(const PlanItem& item, const Width& width) const;
  // What an urgent item whose job runs, or waits in the cluster, gets when the job is stopped with
  // a checkpoint; nullopt where nothing is wider, or where the job is as wide as its class must be
  // and either is not the item's first, or would gain less than a tenth of what is left. For a job
  // that is being stopped already: the wider width, whatever it gains.
  std::optional<ItemWidth> instead(const PlanItem& item);
  // What a bulk item whose job has several nodes, more than its class may have, gets when the job
  // is stopped with a checkpoint; nullopt where that does not pay: the items that wait for its GPUs
  // must gain more than it loses, and all of them together a tenth of the time until they are done.
  std::optional<ItemWidth> narrower(const PlanItem& item) const;
  // Its job is stopped for that: the items that get its GPUs are no reason to stop another one.
  void take_narrower(const ItemWidth& width) { claimed_ += width.sharing; }
  // How long its job of this width takes, as expected and with 90 % certainty; what jobs take on
  // average where the time of its search is not known.
  double seconds_of(const PlanItem& item, const ItemWidth& width) const;
  double late_seconds_of(const PlanItem& item, const ItemWidth& width) const;
  // The time limit that its job may ask for, seconds; 0: too little is known of such searches.
  int64_t limit_of(const PlanItem& item, const ItemWidth& width) const;
  // How long it keeps its GPUs until others have their turn, as expected: a segment at most.
  double turn_seconds(const PlanItem& item, const ItemWidth& width) const;
  // When its GPUs are free with 90 % certainty, seconds from now; infinite: that is not known.
  double late_wait(const ItemWidth& width) const;
  // Whether a GPU is free now that no job in the cluster's queue is expected to take, and there are
  // more such than our jobs there ask for, whatever they wait for; true where that is not known.
  bool has_free_gpu() const;
  // The same; false where that is not known.
  bool has_spare_gpu() const { return gpus_.has_value() && has_free_gpu(); }
  // How long a job of any of the known searches may hold one GPU.
  double longest_turn() const;
  // The item gets this width: its GPUs are taken from the forecast.
  void take(const PlanItem& item, const ItemWidth& width);

 private:
  const SearchTime* time_of(const PlanItem& item) const;
  int64_t sharing(const PlanItem& item) const;
  int usable_for(db::Priority priority) const;
  std::optional<double> deadline_of(const PlanItem& item) const;
  // Of this work, seconds on one GPU.
  std::optional<WidthChoice> choose(const PlanItem& item, double work, const RuntimeModel& model,
                                    const ClassWidths& rules, const GpuForecast& gpus) const;
  int64_t segment_of(const PlanItem& item, const ItemWidth& width) const;
  ItemWidth of_the_site(const PlanItem& item) const;
  const SearchTime* time_to_choose_by(const PlanItem& item) const;
  std::string why_not_chosen(const PlanItem& item) const;
  std::vector<Width> menu_for(const PlanItem& item, const ClassWidths& rules) const;
  void share_among_jobs(const PlanItem& item, const SearchTime& time, const ClassWidths& rules,
                        WidthChoice& choice);
  std::optional<WidthChoice> tail(const PlanItem& item, double work, const RuntimeModel& model,
                                  const ClassWidths& rules) const;
  bool nobody_else_waits(db::Priority priority) const;
  bool fits(const Width& width, const JobBounds& bounds) const;
  bool is_held(const PlanItem& item, const Width& width) const;
  bool was_refused(const PlanItem& item, const Width& width) const;
  void share(const PlanItem& item, const SearchTime& time, const ClassWidths& rules,
             ItemWidth& width);

  const QueueSnapshot& snapshot_;
  std::map<db::Priority, int64_t> ready_;
  std::map<db::Priority, int> held_;         // GPUs of running items
  std::map<db::Priority, int64_t> pending_;  // items whose jobs wait in the cluster
  double waiting_work_ = 0;                  // of items of known times that do not run,
  int64_t waiting_items_ = 0;                // of so many
  int spare_ = 0;                  // free GPUs less those that jobs in the cluster's queue ask for
  int64_t claimed_ = 0;            // ready items that get GPUs of bulk jobs which are being stopped
  std::map<int, int64_t> urgent_;  // ready ones, by PlanItem::kind
  std::map<int, int64_t> urgent_jobs_;                // urgent items that have one, by kind
  std::map<int, std::optional<UrgentShare>> shares_;  // of these, decided once
  std::optional<GpuForecast> gpus_;
};

// "it is done in 4.2 h instead of 1.1 h, and 12 items that wait for its GPUs up to 1.1 h sooner"
std::string explain_narrower(const ItemWidth& width);

// "done in 16.7 min instead of 12.3 h"; empty without a choice.
std::string explain_instead(const ItemWidth& width);

// "16.0 GPU hours (20.5 M correlations at 356/s, 37 past runs, +-4 %); time until done: 4 GPUs
// 11.2 h, 8 GPUs 11.0 h, 64 GPUs 16.0 h; of this it waits 7.2 h for its GPUs; the narrowest that is
// done at most 10 % later than with 8 GPUs". Empty without a choice.
// `left`: PlanItem::left.
std::string explain(const ItemWidth& width, const SearchTime& time, double left = 1);

}  // namespace scheduler
