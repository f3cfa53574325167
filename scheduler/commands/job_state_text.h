// The cluster's state of an attempt's job in words for the user. Pure.
#pragma once

#include <string>

#include "db/records.h"

namespace scheduler {

// The meaning of the cluster's reason; empty when there is none.
std::string meaning_of_reason(const db::Attempt& attempt);

// Why an open attempt's job does not run yet; empty when it runs, or the reason is unknown.
std::string why_it_waits(const db::Attempt& attempt);

// Of an open attempt: what its job does, with what it runs, and why that was decided when it was.
std::string explain_open(const db::Attempt& attempt);

// Of a finished item: what was found, and with what by which attempt.
std::string explain_done(const db::Result& result, const db::Attempt& attempt);

}  // namespace scheduler
