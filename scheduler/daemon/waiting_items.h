// What becomes of an item that waits, held or not, when its files are found to be wrong or away.
// Nothing happens to one that does not wait any more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "db/records.h"
#include "scheduler/daemon/context.h"

namespace scheduler {

// Whether a verdict still is about this item, asked within the transaction.
using StillSo = std::function<bool(const db::Item&)>;

// Whether the micrograph still is to be read that was read as `read`: a retry registers another
// one.
StillSo still_unread(const db::Item& read);

void end_waiting(const DaemonContext& context, int64_t item_id, db::ItemState state,
                 const std::string& reason, const StillSo& still_so = {});

// A file that cannot be looked at just now (a file server is away) must not stop the others. The
// wait doubles while the reason stays the same.
void postpone_waiting(const DaemonContext& context, int64_t item_id, const std::string& why,
                      const StillSo& still_so = {});

// The micrograph may have changed: its item waits until it was read again.
void read_again(const DaemonContext& context, int64_t item_id);

}  // namespace scheduler
