// Which group's items go first within a class: those of the group that has used the least GPU time
// for its share. The weight of past use halves every week. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scheduler {

inline constexpr double kHalfLifeOfUse = 7 * 24 * 3600;  // seconds

// GPU-seconds of ended jobs, by group, decayed. Times are seconds since the epoch.
class DecayedUse {
 public:
  void add(const std::string& group, int64_t ended, double gpu_seconds);
  double of(const std::string& group, int64_t now) const;
  // The mean GPU-seconds of an ended job, with more weight on recent ones; nullopt before the first
  // has ended.
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

// A Unix group's use and share, as the plan needs them.
struct GroupUse {
  std::string name{};
  double gpu_seconds = 0;
  double share = 1;  // share of the GPUs, in proportion to the other groups' shares
};

// The group's GPU-seconds divided by its share.
double use_per_share(const GroupUse& group);

// Lets groups take turns: next() is the one with the least use for its share, and of several the
// first in `groups`. take() adds to a group's use.
class GroupTurns {
 public:
  explicit GroupTurns(const std::vector<GroupUse>& groups);
  // Removes a group that has no more items.
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
