// Stands for Slurm in a simulation: nodes with GPUs, on which each job runs for the seconds that it
// was submitted with. Waiting jobs start class before class, and within a class in the order of
// their submission; a job that waits for its GPUs keeps back those behind it (no backfill). Pure.
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
  Width width{};
  double seconds = 0;                // that it runs for
  const SearchTime* time = nullptr;  // what is known of it beforehand
  double started = 0;
  std::vector<int> nodes{};  // that it runs on
};

class VirtualCluster {
 public:
  VirtualCluster(int nodes, int gpus_per_node);

  // Throws std::invalid_argument for a width that the cluster does not have.
  void submit(VirtualJob job);
  // Starts the waiting jobs that have room, and returns their items.
  std::vector<size_t> start_waiting(double now);
  std::optional<double> next_end() const;
  // The jobs that have ended by then, in the order of their ends.
  std::vector<VirtualJob> take_ended(double now);
  // Takes an item's job away, whether it runs or waits. The item must have one.
  VirtualJob take(size_t item);
  // When the GPUs are free, seconds from now: running jobs hold theirs, waiting ones go first.
  GpuForecast forecast(double now) const;

  int running() const { return static_cast<int>(running_.size()); }
  const std::map<db::Priority, int>& waiting() const { return waiting_of_class_; }

 private:
  using Turn = std::pair<db::Priority, int64_t>;  // class, and the number of the submission

  std::vector<int> nodes_for(const Width& width) const;
  void release(const VirtualJob& job);

  int gpus_per_node_;
  std::vector<int> free_;  // GPUs of each node
  int64_t submitted_ = 0;
  std::map<Turn, VirtualJob> waiting_;
  std::map<size_t, Turn> turns_;  // of the items whose jobs wait
  std::map<db::Priority, int> waiting_of_class_;
  std::map<size_t, VirtualJob> running_;
  std::set<std::pair<double, size_t>> ends_;
};

}  // namespace scheduler
