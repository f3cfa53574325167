// Says when something is written in a folder.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "base/descriptor.h"

namespace scheduler::cli {

// Wakes its owner when something is written in one of the folders. Where the kernel does not say
// so, as on network file systems, the owner's periodic look finds it.
class FolderEvents {
 public:
  FolderEvents();

  // A folder that is missing may come: it can be added again.
  void add(const std::string& directory);

  // Returns after `longest`, or when something was written, but not before `shortest`.
  void wait(std::chrono::milliseconds shortest, std::chrono::milliseconds longest) const;

 private:
  base::Descriptor events_;
  std::set<std::string> watched_;
};

}  // namespace scheduler::cli
