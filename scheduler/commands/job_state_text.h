// What the cluster says of an attempt's job, for the user.
#pragma once

#include <string>

#include "db/records.h"

namespace scheduler {

// "PENDING: Resources: waits for nodes to become free"; empty when it has said nothing.
std::string cluster_state_text(const db::Attempt& attempt);

// What the cluster's reason means; empty when there is none.
std::string meaning_of_reason(const db::Attempt& attempt);

// Why an open attempt's job does not run yet; empty when it runs, or nobody knows.
std::string why_it_waits(const db::Attempt& attempt);

}  // namespace scheduler
