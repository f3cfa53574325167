// The folders that a user watches, kept in a file of that user, and which of their files have been
// dealt with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/cli/items/enqueue.h"
#include "scheduler/ingest/settling.h"

namespace scheduler::cli {

struct Watch {
  int64_t id = 0;
  std::string directory{};  // absolute
  std::string pattern = "*.mrc";
  bool paused = false;
  EnqueueOptions enqueue{};  // without files
};

// MARGAY_WATCHES, else margay/watches.json in the user's state folder (XDG_STATE_HOME or
// ~/.local/state).
std::string default_watches_file();

// A list that several processes may change: each change reads it and rewrites it completely.
class WatchList {
 public:
  explicit WatchList(std::string file) : file_(std::move(file)) {}

  // Empty when there is no file. Throws Failure when the file cannot be read.
  std::vector<Watch> read() const;
  // Returns the new watch's id, which was never used before.
  int64_t add(const Watch& watch) const;
  // Both throw Failure (not found).
  void set_paused(int64_t id, bool paused) const;
  void remove(int64_t id) const;

 private:
  std::string file_;
};

// The outcomes for the files of the watches, one line each: read at the start and then only
// appended to, by one process at a time.
class TakenFiles {
 public:
  // Throws Failure when another process uses it.
  explicit TakenFiles(const std::string& watches_file);

  std::vector<ingest::FileLook> of(int64_t watch) const;
  void append(int64_t watch, const ingest::FileLook& file) const;

 private:
  std::string path_;
  base::Descriptor file_;
};

}  // namespace scheduler::cli
