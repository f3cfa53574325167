#include "scheduler/policy/job_bounds.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace scheduler {
namespace {

constexpr int64_t kSecondsPerMinute = 60;

template <typename Number>
void lower(Number& bound, std::optional<int64_t> most) {
  if (!most || *most <= 0) return;
  const int64_t limit = std::min<int64_t>(*most, std::numeric_limits<Number>::max());
  bound = bound == 0 ? static_cast<Number>(limit) : std::min(bound, static_cast<Number>(limit));
}

std::optional<int64_t> in_seconds(std::optional<int64_t> minutes) {
  if (!minutes) return std::nullopt;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / kSecondsPerMinute;
  return std::clamp(*minutes, int64_t{0}, kMost) * kSecondsPerMinute;
}

std::string at(const std::map<std::string, std::string>& place, const char* option) {
  const auto found = place.find(option);
  return found == place.end() ? "" : found->second;
}

std::optional<int64_t> count_of(const slurm::Tres& tres, const char* resource) {
  const auto found = tres.find(resource);
  return found == tres.end() ? std::nullopt : std::optional(found->second);
}

// One job alone may have no more than all of them together.
void lower_counts(JobBounds& bounds, const slurm::JobLimits& limits) {
  for (const slurm::Tres* tres : {&limits.of_job, &limits.of_user, &limits.of_all}) {
    lower(bounds.most_nodes, count_of(*tres, "node"));
    lower(bounds.most_gpus, count_of(*tres, "gres/gpu"));
  }
}

}  // namespace

JobBounds bounds_of_job(const slurm::SiteFacts& site, const std::string& partition,
                        const std::map<std::string, std::string>& place) {
  JobBounds bounds;
  slurm::PartitionFacts facts;
  if (site.partitions.value) {
    const auto found = site.partitions.value->find(partition);
    if (found != site.partitions.value->end()) facts = found->second;
  }
  bool lifts_time = false;
  bool lifts_nodes = false;
  if (site.qos.value && site.associations.value && site.enforces_limits.value_or(true)) {
    const slurm::LimitsOfJob job = slurm::limits_of_job(*site.qos.value, *site.associations.value,
                                                        {.user = site.user,
                                                         .account = at(place, "account"),
                                                         .qos = at(place, "qos"),
                                                         .partition = partition,
                                                         .partition_qos = facts.own_qos});
    // Slurm takes the time from the first that has one.
    std::optional<int64_t> minutes;
    for (const auto* limited : {&job.by_qos, &job.by_association}) {
      for (const slurm::LimitedBy& by : *limited) {
        if (!minutes) minutes = by.limits.most_minutes;
        lower_counts(bounds, by.limits);
      }
    }
    lower(bounds.most_seconds, in_seconds(minutes));
    const auto qos = site.qos.value->find(job.qos);
    lifts_time = qos != site.qos.value->end() && qos->second.lifts_time;
    lifts_nodes = qos != site.qos.value->end() && qos->second.lifts_nodes;
  }
  if (!lifts_time) lower(bounds.most_seconds, in_seconds(facts.most_minutes));
  if (!lifts_nodes) lower(bounds.most_nodes, facts.most_nodes);
  return bounds;
}

}  // namespace scheduler
