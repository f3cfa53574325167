// What the policy's snapshot takes from options, the items' own and the configuration's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/database.h"
#include "db/queue.h"
#include "scheduler/config/config.h"
#include "scheduler/policy/policy.h"

namespace scheduler {

// Adds the partition, account, QOS and reservation of jobs whose items have no options, also those
// of each class. Throws as directives_of().
void add_places(const Config& config, ClusterLimits& limits);

// Whether these options affect where or when a job runs, or how large it is.
bool asks_for_more_than_mail(const std::map<std::string, std::string>& options);

// Whether these options set how many nodes or GPUs a job gets, whatever its shape.
bool asks_for_width(const std::map<std::string, std::string>& options);

// Whether these options set how much of a node, or how many nodes, a job gets.
bool asks_for_room(const std::map<std::string, std::string>& options);

// Whether a job waits in the cluster for something of its own, so that another job may well start.
// `own_options`: its item has options for which asks_for_more_than_mail() is true.
bool is_stuck(const db::OpenAttempt& attempt, bool own_options);

// The lane of an item of this class with these options.
std::string lane_of_item(db::Priority priority, const std::map<std::string, std::string>& options,
                         const ClusterLimits& limits);

// What an item of this class with these options asks for.
ItemAsks asks_of(db::Priority priority, const std::map<std::string, std::string>& options,
                 const ClusterLimits& limits);

// The pause that stops the submission of a job of this class with these options of its item; null
// when there is none.
const db::LanePause* paused_by(const std::vector<db::LanePause>& pauses, db::Priority priority,
                               const std::map<std::string, std::string>& options,
                               const ClusterLimits& limits);

}  // namespace scheduler
