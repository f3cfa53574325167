// Stands for Slurm in a simulation: nodes with GPUs, on which each job runs for the time given at
// its submission. Waiting jobs start class before class (VirtualJob::rank), and within a class in
// the order of their submission; a job that waits for its GPUs blocks those behind it (no
// backfill). Other people's jobs only hold GPUs for a while. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "db/records.h"
#include "scheduler/config/width.h"
#include "scheduler/forecast/site_widths.h"

namespace scheduler {

struct VirtualJob {
  size_t item = 0;  // index of its item, which has at most one job
  db::Priority priority = db::Priority::kNormal;
  db::Priority rank = db::Priority::kNormal;  // the class among which it waits
  Width width{};
  double seconds = 0;                // duration
  double left = 1;                   // share of its search that it does
  int64_t segment = 0;               // seconds after which it stops with a checkpoint; 0: none
  const SearchTime* time = nullptr;  // what is known of its time beforehand
  double started = 0;
  std::vector<int> nodes{};  // on which it runs
};

class VirtualCluster {
 public:
  VirtualCluster(int nodes, int gpus_per_node);

  // Throws std::invalid_argument for a width that the cluster does not have.
  void submit(VirtualJob job);
  // Adds another user's job, from the beginning to `end`. Throws std::invalid_argument when the
  // GPUs are not free.
  void hold(const Width& width, double end);
  // Starts the waiting jobs that have room, and returns their items.
  std::vector<size_t> start_waiting(double now);
  // The next end of any job; nullopt: none runs.
  std::optional<double> next_end() const;
  // Removes and returns the submitted jobs that have ended by `now`, in the order of their ends.
  std::vector<VirtualJob> take_ended(double now);
  // Frees the GPUs of others' jobs that have ended by `now`; returns whether there were any.
  bool release_others(double now);
  // Removes and returns an item's job, whether it runs or waits. The item must have one.
  VirtualJob take(size_t item);
  // When the GPUs are free, seconds from `now`: running jobs and those of others hold theirs,
  // waiting ones go first.
  GpuForecast forecast(double now) const;
  // The same, written into an existing forecast to reuse its memory.
  void forecast(double now, GpuForecast& gpus) const;

  // How many submitted jobs run.
  int running() const { return static_cast<int>(running_.size()); }
  const std::map<db::Priority, int>& waiting() const { return waiting_of_class_; }

 private:
  struct OthersJob {
    Width width{};
    std::vector<int> nodes{};
  };
  using Turn = std::pair<db::Priority, int64_t>;  // class, and the number of the submission

  std::vector<int> nodes_for(const Width& width) const;
  void take_gpus(const std::vector<int>& nodes, const Width& width, int sign);

  int gpus_per_node_;
  std::vector<int> free_;  // GPUs of each node
  int64_t submitted_ = 0;
  std::map<Turn, VirtualJob> waiting_;
  std::map<size_t, Turn> turns_;  // of the items whose jobs wait
  std::map<db::Priority, int> waiting_of_class_;
  std::map<size_t, VirtualJob> running_;
  std::set<std::pair<double, size_t>> ends_;
  std::multimap<double, OthersJob> others_;  // by their ends
};

}  // namespace scheduler
