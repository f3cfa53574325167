// Describes the state of an attempt's job in the cluster in words for the user. Pure.
#pragma once

#include <string>

#include "db/records.h"

namespace scheduler {

// What the cluster's reason means; empty when there is none.
std::string meaning_of_reason(const db::Attempt& attempt);

// Why an open attempt's job does not run yet; empty when it runs, or the reason is unknown.
std::string why_it_waits(const db::Attempt& attempt);

// For an open attempt: what its job does, with which resources, and why that was decided when it
// was submitted.
std::string explain_open(const db::Attempt& attempt);

// For a finished item: what was found, by which attempt and with which resources.
std::string explain_done(const db::Result& result, const db::Attempt& attempt);

}  // namespace scheduler
