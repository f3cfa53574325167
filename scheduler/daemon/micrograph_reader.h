// Reads each new micrograph once, in the background, and keeps its hash and the size of its image,
// so that what a search has read can be compared with what was enqueued. An item is ready only once
// its micrograph was read.
//
// Micrographs of the most urgent class are read first, and within it those of the user whose
// micrographs took the least time so far. Each user's micrographs are read by a separate thread;
// the next user's turn comes after two seconds at most, whether or not the reading has ended.
// Progress is in the database, so that a restart continues where the last daemon stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/queue.h"
#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/files/owner_threads.h"

namespace scheduler {

// Seconds spent reading each owner's micrographs; every hour of reading halves the older values.
using ReadingTimes = std::map<int64_t, double>;

void add_time(ReadingTimes& times, int64_t owner_uid, double seconds);
// In the most urgent class, the group of the owner whose micrographs took the least time, so that
// slow storage delays only its own users; nullopt when there is none.
std::optional<db::UnreadGroup> next_group(const std::vector<db::UnreadGroup>& groups,
                                          const ReadingTimes& times);

class MicrographReader {
 public:
  // Called before a micrograph is opened, by the thread that opens it; may be unset.
  using BeforeOpen = std::function<void(const std::string& path)>;

  explicit MicrographReader(const DaemonContext& context, OwnerThreadLimits limits = {},
                            BeforeOpen before_open = {})
      : context_(context), threads_(limits), before_open_(std::move(before_open)) {}
  ~MicrographReader() { stop(); }
  MicrographReader(const MicrographReader&) = delete;
  MicrographReader& operator=(const MicrographReader&) = delete;

  // Reads micrographs for about a second, at least one. Returns false when there was none to read.
  // Called by one thread, which need not be the tick's. Throws DatabaseError.
  bool read_some();
  // Makes read_some() return soon, without what it was reading. For any thread.
  void stop() { *stopped_ = true; }
  // For any thread: see OwnerThreads.
  std::map<int64_t, std::string> hanging() const { return threads_.hanging(); }

 private:
  struct Reading;
  struct Batch;

  static std::optional<Reading> read(const db::Item& item, const Batch& batch,
                                     const OwnerThreads::Sign& sign);
  static void read_all(Batch& batch, const OwnerThreads::Sign& sign);
  void store(const std::vector<Reading>& readings) const;
  void finish(int64_t owner_uid, const Batch& batch);
  bool store_late();
  std::optional<db::UnreadGroup> next();
  std::shared_ptr<Batch> make_batch(const db::UnreadGroup& group) const;

  const DaemonContext& context_;
  OwnerThreads threads_;
  BeforeOpen before_open_;
  // Shared with threads that may outlive this object.
  const std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
  // By owner: batches that read_some() no longer waits for.
  std::map<int64_t, std::shared_ptr<Batch>> late_;
  ReadingTimes times_;
};

}  // namespace scheduler
