// Which group's items go first within a class: those of the group that has used the least of the
// GPUs' time for its share, where what was used counts half after each week. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scheduler {

inline constexpr double kHalfLifeOfUse = 7 * 24 * 3600;  // seconds

// GPU-seconds of the jobs that have ended, by group. Times are seconds since the epoch.
class DecayedUse {
 public:
  void add(const std::string& group, int64_t ended, double gpu_seconds);
  double of(const std::string& group, int64_t now) const;
  // The mean of the jobs that have ended, recent ones counting more; nullopt before the
  // first has ended.
  std::optional<double> usual_job() const;

 private:
  struct Sum {
    double gpu_seconds = 0;
    int64_t at = 0;
  };
  std::map<std::string, Sum> groups_{};
  Sum all_{};
  Sum jobs_{};
};

// A Unix group, as the plan looks at it.
struct GroupUse {
  std::string name{};
  double gpu_seconds = 0;
  double share = 1;  // of the GPUs, in proportion to those of the others
};

// GPU-seconds of the group for each share that it has.
double use_per_share(const GroupUse& group);

// The groups in turn: next() is the one with the least use for its share, and of several the one
// that comes first in `groups`. What take() is given counts as used.
class GroupTurns {
 public:
  explicit GroupTurns(const std::vector<GroupUse>& groups);
  // For a group that has no more items.
  void leave_out(size_t group);
  bool empty() const { return order_.empty(); }
  size_t next() const;
  void take(size_t group, double gpu_seconds);

 private:
  std::vector<GroupUse> groups_;
  std::vector<size_t> order_{};  // the next one last
  void put_in_place(size_t group);
};

}  // namespace scheduler
