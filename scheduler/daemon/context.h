// What the parts of the tick share. References are to objects that outlive the daemon.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "db/database.h"
#include "scheduler/clock.h"
#include "scheduler/config/config.h"
#include "scheduler/crash_point.h"
#include "scheduler/files/file_looks.h"
#include "scheduler/files/folder_readers.h"
#include "slurm/cluster.h"

namespace scheduler {

struct DaemonContext {
  Config config;
  db::Database& database;
  slurm::Cluster& cluster;
  const Clock& clock;
  CrashHook crash;
  // Take one line for the administrator, from any thread: what happens, and what goes wrong. Never
  // empty.
  std::function<void(const std::string&)> log;
  std::function<void(const std::string&)> warn;
  std::function<int64_t(const std::string&)> free_bytes;  // on the disk of a folder; never empty
  // Looks at micrographs, by owner, and at volumes, by who registered them; only the tick uses
  // them.
  std::shared_ptr<FileLooks> micrographs{};
  std::shared_ptr<FileLooks> volumes{};
  std::shared_ptr<FolderReaders> readers{};  // for items' folders; only the tick uses them
};

}  // namespace scheduler
