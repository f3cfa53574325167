// Changes an item that waits, held or not, when its files are found to be wrong or unavailable. An
// item that no longer waits is left alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "db/records.h"
#include "scheduler/daemon/context.h"

namespace scheduler {

// Returns whether a verdict still applies to the item; called within the transaction.
using StillSo = std::function<bool(const db::Item&)>;

// Checks that the micrograph is still to be read and is the one in `read`: a retry may have
// registered another one.
StillSo still_unread(const db::Item& read);

void end_waiting(const DaemonContext& context, int64_t item_id, db::ItemState state,
                 const std::string& reason, const StillSo& still_so = {});

// Postpones an item whose file cannot be looked at now (a file server is down), so that it does not
// stop the others. The wait doubles while the reason stays the same.
void postpone_waiting(const DaemonContext& context, int64_t item_id, const std::string& why,
                      const StillSo& still_so = {});

// Makes the item wait until its micrograph, which may have changed, has been read again.
void read_again(const DaemonContext& context, int64_t item_id);

}  // namespace scheduler
