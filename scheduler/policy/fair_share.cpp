#include "scheduler/policy/fair_share.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace scheduler {
namespace {

double decayed(double value, int64_t seconds) {
  return value * std::exp2(-static_cast<double>(seconds) / kHalfLifeOfUse);
}

// Adds a value of this time to a sum that is decayed to `at`, in any order of times.
void add_to(double& sum, int64_t& at, int64_t time, double value) {
  if (time > at) {
    sum = decayed(sum, time - at);
    at = time;
  }
  sum += decayed(value, at - time);
}

}  // namespace

void DecayedUse::add(const std::string& group, int64_t ended, double gpu_seconds) {
  Sum& sum = groups_[group];
  add_to(sum.gpu_seconds, sum.at, ended, gpu_seconds);
  add_to(all_.gpu_seconds, all_.at, ended, gpu_seconds);
  add_to(jobs_.gpu_seconds, jobs_.at, ended, 1);
}

double DecayedUse::of(const std::string& group, int64_t now) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return 0;
  return decayed(found->second.gpu_seconds, std::max<int64_t>(0, now - found->second.at));
}

std::optional<double> DecayedUse::usual_job() const {
  if (jobs_.gpu_seconds <= 0) return std::nullopt;
  return std::max(1.0, all_.gpu_seconds / jobs_.gpu_seconds);
}

double use_per_share(const GroupUse& group) { return group.gpu_seconds / group.share; }

GroupTurns::GroupTurns(const std::vector<GroupUse>& groups) : groups_(groups) {
  for (size_t group = 0; group < groups_.size(); ++group) put_in_place(group);
}

void GroupTurns::put_in_place(size_t group) {
  const auto key = [this](size_t number) {
    return std::tuple(use_per_share(groups_[number]), number);
  };
  const auto place = std::upper_bound(order_.begin(), order_.end(), group,
                                      [&](size_t a, size_t b) { return key(a) > key(b); });
  order_.insert(place, group);
}

void GroupTurns::leave_out(size_t group) { std::erase(order_, group); }

size_t GroupTurns::next() const { return order_.back(); }

void GroupTurns::take(size_t group, double gpu_seconds) {
  groups_[group].gpu_seconds += gpu_seconds;
  std::erase(order_, group);
  put_in_place(group);
}

}  // namespace scheduler
