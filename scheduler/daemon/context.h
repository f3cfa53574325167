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
  // Takes one line for the administrator, from any thread; never empty.
  std::function<void(const std::string&)> log;
  std::function<int64_t(const std::string&)> free_bytes;  // of the disk of a folder; never empty
  // At micrographs, by their owners, and at volumes, by those who registered them; the tick's.
  std::shared_ptr<FileLooks> micrographs{};
  std::shared_ptr<FileLooks> volumes{};
  std::shared_ptr<FolderReaders> readers{};  // of items' folders; the tick's
};

}  // namespace scheduler
