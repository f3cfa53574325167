// Which files of a watched folder have been written to their end. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scheduler::ingest {

// What a look at a file's inode shows: another look that is equal found nothing written.
struct FileLook {
  std::string path{};
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
  int64_t inode = 0;
  bool operator==(const FileLook&) const = default;
};

class Settling {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A file has settled when it has looked the same for so long.
  explicit Settling(std::chrono::milliseconds settle) : settle_(settle) {}

  // Takes all files that a look at the folder found. Returns those that have settled and are not
  // dealt with, by path; files that are no longer there are forgotten.
  std::vector<FileLook> settled(const std::vector<FileLook>& found, Time now);
  // The file is returned no more as long as it looks like this, or under its name when it was taken
  // before the program began.
  void deal_with(const FileLook& file) { dealt_with_[file.path] = file; }
  // Settled once, not yet dealt with: it is looked at again when it has been quiet for as long once
  // more.
  void postpone(const std::string& path, Time now);
  // Files that were found, have not settled and are not dealt with.
  size_t waiting() const { return waiting_; }

 private:
  struct Seen {
    FileLook look;
    Time since{};
  };
  std::chrono::milliseconds settle_;
  std::map<std::string, Seen> seen_;
  std::map<std::string, FileLook> dealt_with_;
  size_t waiting_ = 0;
};

}  // namespace scheduler::ingest
