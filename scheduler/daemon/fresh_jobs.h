// Jobs that were submitted since the last listing. On an idle cluster they start at once; a look at
// the newest job shows this long before the next listing, so that more can be submitted.
//
// Jobs of one class and lane start in their order: when the newest has started, so have the others.
// A wrong guess submits a few jobs too early, and the next listing corrects it. Not thread-safe;
// the tick is the only caller.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "db/records.h"
#include "scheduler/policy/policy.h"
#include "slurm/cluster.h"

namespace scheduler {

class FreshJobs {
 public:
  void submitted(const JobStart& start, const std::string& job_id, int64_t now_ms);
  // Looks at the newest jobs of this class that are not known to have started, one second after
  // their submission and twice more at growing intervals.
  void look(slurm::Cluster& cluster, db::Priority priority, int64_t now_ms);
  // Counts the jobs that have started as running.
  void apply(QueueSnapshot& snapshot) const;
  // Forgets all of them: a listing now shows them.
  void listed();

 private:
  // Class and lane, and the owner of jobs that wait apart.
  using Key = std::tuple<db::Priority, std::string, std::optional<int64_t>>;
  struct Group {
    int count = 0;
    int started = 0;
    std::string newest{};
    int looks = 0;  // at the newest job
    int64_t next_ms = 0;
  };
  std::map<Key, Group> groups_;
};

}  // namespace scheduler
