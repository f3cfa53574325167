// Stands for Slurm in a simulation: nodes with GPUs, on which each job runs for the seconds that it
// was submitted with. Waiting jobs start class before class (VirtualJob::rank), and within a class
// in the order of their submission; a job that waits for its GPUs keeps back those behind it (no
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
#include "scheduler/policy/site_widths.h"

namespace scheduler {

struct VirtualJob {
  size_t item = 0;  // each has one job at most
  db::Priority priority = db::Priority::kNormal;
  db::Priority rank = db::Priority::kNormal;  // the class that it waits among
  Width width{};
  double seconds = 0;                // that it runs for
  double left = 1;                   // the share of its search that it is to do
  int64_t segment = 0;               // seconds after which it stops with a checkpoint; 0: none
  const SearchTime* time = nullptr;  // what is known of it beforehand
  double started = 0;
  std::vector<int> nodes{};  // that it runs on
};

class VirtualCluster {
 public:
  VirtualCluster(int nodes, int gpus_per_node);

  // Throws std::invalid_argument for a width that the cluster does not have.
  void submit(VirtualJob job);
  // Somebody else's job, from the beginning to `end`. Throws std::invalid_argument when the GPUs
  // are not free.
  void hold(const Width& width, double end);
  // Starts the waiting jobs that have room, and returns their items.
  std::vector<size_t> start_waiting(double now);
  // Of any job.
  std::optional<double> next_end() const;
  // The submitted jobs that have ended by then, in the order of their ends.
  std::vector<VirtualJob> take_ended(double now);
  // Whether jobs of others have ended by then and free their GPUs.
  bool release_others(double now);
  // Takes an item's job away, whether it runs or waits. The item must have one.
  VirtualJob take(size_t item);
  // When the GPUs are free, seconds from now: running jobs and those of others hold theirs, waiting
  // ones go first.
  GpuForecast forecast(double now) const;
  // The same into an older forecast, which spares its memory.
  void forecast(double now, GpuForecast& gpus) const;

  // The submitted jobs that run.
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
