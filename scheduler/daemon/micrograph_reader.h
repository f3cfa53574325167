// Reads each new micrograph once, in the background, and keeps its hash: what a search has read can
// then be compared with what was enqueued. An item is ready only once its micrograph was read.
//
// The most urgent class is read first, and within it that of the user whose
// micrographs took the least time so far. Progress is in the database, so that a restart continues
// where the last daemon stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/queue.h"
#include "db/records.h"
#include "scheduler/daemon/context.h"

namespace scheduler {

// Seconds for which micrographs of each owner were read, half of them forgotten with every hour of
// reading.
using ReadingTimes = std::map<int64_t, double>;

void add_time(ReadingTimes& times, int64_t owner_uid, double seconds);
// Of the most urgent class, that of the owner whose micrographs took the least time, so that slow
// storage delays nobody but its user; nullopt when there is none.
std::optional<db::UnreadGroup> next_group(const std::vector<db::UnreadGroup>& groups,
                                          const ReadingTimes& times);

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
    db::FileId id{};
    std::string wrong{};  // why the item cannot be searched
    std::string away{};   // why it cannot be read at present
  };

  std::optional<Reading> read(const db::Item& item) const;
  void store(const std::vector<Reading>& readings) const;

  const DaemonContext& context_;
  std::atomic<bool> stopped_ = false;
  ReadingTimes times_;
};

}  // namespace scheduler
