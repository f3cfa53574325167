// Reads each new micrograph once, in the background, and keeps its hash: what a search has read can
// then be compared with what was enqueued. An item is ready only once its micrograph was read.
//
// The most urgent class is read first, and within it the users take turns. Progress is in the
// database, so that a restart continues where the last daemon stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/queue.h"
#include "db/records.h"
#include "scheduler/daemon/context.h"

namespace scheduler {

class MicrographReader {
 public:
  explicit MicrographReader(const DaemonContext& context) : context_(context) {}
  // Reads some of those that wait for it, for about a second or one micrograph. Returns false when
  // there was none. Called by one thread, which need not be the tick's. Throws DatabaseError.
  bool read_some();
  // Lets read_some() return soon, without what it was reading. By any thread.
  void stop() { stopped_ = true; }

 private:
  struct Reading {
    db::Item item{};
    std::string sha256{};
    int64_t ctime_ns = 0;
    std::string wrong{};  // why the item cannot be searched
    std::string away{};   // why it cannot be read at present
  };

  std::optional<db::UnreadGroup> next_group();
  std::optional<Reading> read(const db::Item& item) const;
  void store(const std::vector<Reading>& readings) const;

  const DaemonContext& context_;
  std::atomic<bool> stopped_ = false;
  int64_t last_owner_ = -1;
};

}  // namespace scheduler
