// The cluster's state of an attempt's job in words for the user. Pure.
#pragma once

#include <string>

#include "db/records.h"

namespace scheduler {

// The meaning of the cluster's reason; empty when there is none.
std::string meaning_of_reason(const db::Attempt& attempt);

// Why an open attempt's job does not run yet; empty when it runs, or the reason is unknown.
std::string why_it_waits(const db::Attempt& attempt);

}  // namespace scheduler
