// Reads each new micrograph once, in the background, and keeps its hash and the size of its image:
// what a search has read can then be compared with what was enqueued. An item is ready only once
// its micrograph was read.
//
// The most urgent class is read first, and within it that of the user whose
// micrographs took the least time so far. Each user's are read by a thread of their own; the next
// user's turn comes after two seconds at most, whether or not the reading has ended. Progress is in
// the database, so that a restart continues where the last daemon stopped.
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
  // Called before a micrograph is opened, by the thread that opens it; may be empty.
  using BeforeOpen = std::function<void(const std::string& path)>;

  explicit MicrographReader(const DaemonContext& context, OwnerThreadLimits limits = {},
                            BeforeOpen before_open = {})
      : context_(context), threads_(limits), before_open_(std::move(before_open)) {}
  ~MicrographReader() { stop(); }
  MicrographReader(const MicrographReader&) = delete;
  MicrographReader& operator=(const MicrographReader&) = delete;

  // Reads some of those that wait for it, for about a second or one micrograph. Returns false when
  // there was none. Called by one thread, which need not be the tick's. Throws DatabaseError.
  bool read_some();
  // Lets read_some() return soon, without what it was reading. By any thread.
  void stop() { *stopped_ = true; }
  // By any thread: see OwnerThreads.
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
  std::map<int64_t, std::shared_ptr<Batch>> late_;  // by owner, of those that were not waited for
  ReadingTimes times_;
};

}  // namespace scheduler
