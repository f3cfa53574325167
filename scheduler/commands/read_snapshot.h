// What the policy's snapshot takes from options: the items' own and those of the configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/queue.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

// Adds the partition, account, QOS and reservation that jobs without options of their own ask for,
// those of each class among them. Throws as directives_of().
void add_places(const Config& config, ClusterLimits& limits);

// Whether these options ask for where or when a job runs, or how large it is.
bool asks_for_more_than_mail(const std::map<std::string, std::string>& options);

// Whether these options say how many nodes or GPUs a job gets, whatever its shape.
bool asks_for_width(const std::map<std::string, std::string>& options);

// Whether these options say how much of a node, or how many nodes, a job gets.
bool asks_for_room(const std::map<std::string, std::string>& options);

// Whether a job that waits in the cluster waits for something of its own, so that another one may
// well start. `own_options`: its item has such options.
bool is_stuck(const db::OpenAttempt& attempt, bool own_options);

// The lane of an item of this class with these options.
std::string lane_of_item(db::Priority priority, const std::map<std::string, std::string>& options,
                         const ClusterLimits& limits);

// What an item of this class with these options asks for.
ItemAsks asks_of(db::Priority priority, const std::map<std::string, std::string>& options,
                 const ClusterLimits& limits);

// The pause that keeps a job of this class with these options of its item's from being submitted;
// null when there is none.
const db::LanePause* paused_by(const std::vector<db::LanePause>& pauses, db::Priority priority,
                               const std::map<std::string, std::string>& options,
                               const ClusterLimits& limits);

}  // namespace scheduler
