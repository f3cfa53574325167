// Chooses the width of each item that a plan starts, one after the other, by choose_width() on a
// forecast in which the GPUs of the items before it are taken. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/forecast/choose_width.h"
#include "scheduler/forecast/site_widths.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

struct ItemWidth {
  Width width{};
  // What each width would have meant. Unset where the time of its search, the free GPUs or the
  // class's widths are not known, or where its own options decide: then the width is the site's.
  std::optional<WidthChoice> choice{};
  std::string not_chosen{};  // why no width was chosen although one was to be, a clause
  bool tail = false;         // wider than its class's cap, since nobody else waits
  bool in_turn = true;       // for several urgent items: one after the other at this width
  int64_t urgent = 0;        // urgent items that share the GPUs, this one included
  int64_t sharing = 0;       // ready items of its class and higher ones, this one included
  int usable_gpus = 0;       // GPUs that these items share
  int64_t not_placed = 0;    // jobs that go first and are not in the forecast
  int64_t segment = 0;       // JobStart::segment
  double done_now = 0;       // from instead(): seconds until it is done if its job is not stopped
  double done_then = 0;      // from narrower(): seconds until it is done if its job is stopped
};

class ItemWidths {
 public:
  // `ready`: how many items of each class can start. The snapshot must outlive this.
  ItemWidths(const QueueSnapshot& snapshot, std::map<db::Priority, int64_t> ready);

  ItemWidth of(const PlanItem& item);
  // The item with this width and its segment, as if the width had been chosen.
  ItemWidth at(const PlanItem& item, const Width& width) const;
  // The width that an urgent item gets if its job, which runs or waits in the cluster, is stopped
  // with a checkpoint. nullopt where nothing is wider, or where the job is as wide as its class
  // must be and either is not the item's first or would gain less than a tenth of what is left. For
  // a job that is already being stopped: the wider width, whatever it gains.
  std::optional<ItemWidth> instead(const PlanItem& item);
  // The width that a bulk item gets if its job, which has several nodes and more than its class may
  // have, is stopped with a checkpoint. nullopt where that does not pay: the items that wait for
  // its GPUs must gain more than it loses, and all of them together a tenth of the time until they
  // are done.
  std::optional<ItemWidth> narrower(const PlanItem& item) const;
  // Notes that the job is stopped for this width, so that the items that get its GPUs are no reason
  // to stop another job.
  void take_narrower(const ItemWidth& width) { claimed_ += width.sharing; }
  // Seconds that its job of this width takes, as expected and with 90 % certainty; the average of
  // jobs where the time of its search is not known.
  double seconds_of(const PlanItem& item, const ItemWidth& width) const;
  double late_seconds_of(const PlanItem& item, const ItemWidth& width) const;
  // The time limit that its job may ask for, seconds; 0: too little is known of such searches.
  int64_t limit_of(const PlanItem& item, const ItemWidth& width) const;
  // Expected seconds for which it keeps its GPUs until others have their turn: at most a segment.
  double turn_seconds(const PlanItem& item, const ItemWidth& width) const;
  // When its GPUs are free with 90 % certainty, seconds from now; infinite: not known.
  double late_wait(const ItemWidth& width) const;
  // Whether a GPU is free now that no job in the cluster's queue is expected to take, and more such
  // GPUs are free than our queued jobs ask for, whatever they wait for; true where that is not
  // known.
  bool has_free_gpu() const;
  // As has_free_gpu(), but false where that is not known.
  bool has_spare_gpu() const { return gpus_.has_value() && has_free_gpu(); }
  // The longest time, in seconds, that a job of any known search may hold one GPU.
  double longest_turn() const;
  // Gives the item this width and takes its GPUs from the forecast.
  void take(const PlanItem& item, const ItemWidth& width);

 private:
  const SearchTime* time_of(const PlanItem& item) const;
  int64_t sharing(const PlanItem& item) const;
  int usable_for(db::Priority priority) const;
  std::optional<double> deadline_of(const PlanItem& item) const;
  // The choice for `work`, seconds on one GPU.
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
  bool is_held(const PlanItem& item, const Width& width) const;
  bool was_refused(const PlanItem& item, const Width& width) const;
  void share(const PlanItem& item, const SearchTime& time, const ClassWidths& rules,
             ItemWidth& width);

  const QueueSnapshot& snapshot_;
  std::map<db::Priority, int64_t> ready_;
  std::map<db::Priority, int> held_;         // GPUs of running items
  std::map<db::Priority, int64_t> pending_;  // items whose jobs wait in the cluster
  double waiting_work_ = 0;                  // total work of items with known times that do not run
  int64_t waiting_items_ = 0;                // number of these items
  int spare_ = 0;                  // free GPUs minus those that jobs in the cluster's queue ask for
  int64_t claimed_ = 0;            // ready items that get GPUs of bulk jobs that are being stopped
  std::map<int, int64_t> urgent_;  // ready urgent items, by PlanItem::kind
  std::map<int, int64_t> urgent_jobs_;                // urgent items that have a job, by kind
  std::map<int, std::optional<UrgentShare>> shares_;  // for these kinds, decided once
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
