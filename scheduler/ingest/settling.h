// Finds which files of a watched folder are completely written. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scheduler::ingest {

// What a look at a file's inode shows; if two looks are equal, nothing was written between them.
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

  // A file has settled when it has looked the same for `settle`.
  explicit Settling(std::chrono::milliseconds settle) : settle_(settle) {}

  // Takes all files found by a look at the folder. Returns, by path, those that have settled and
  // are not dealt with; files that no longer exist are forgotten.
  std::vector<FileLook> settled(const std::vector<FileLook>& found, Time now);
  // Marks the file as dealt with: it is not returned again as long as it looks like this.
  void deal_with(const FileLook& file) { dealt_with_[file.path] = file; }
  // Takes deal_with() back.
  void take_up_again(const std::string& path) { dealt_with_.erase(path); }
  // Postpones a settled file that is not dealt with: it is returned again after it has not changed
  // for another `settle`.
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
