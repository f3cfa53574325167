// What one configuration creates: the cluster, the daemon that ticks, the commands and the API. A
// reload creates another site; both use the same database, which has everything that must persist.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/database.h"
#include "scheduler/api/service.h"
#include "scheduler/clock.h"
#include "scheduler/commands/commands.h"
#include "scheduler/config/config.h"
#include "scheduler/daemon/daemon.h"
#include "scheduler/process/keeper_thread.h"
#include "scheduler/process/reader_thread.h"
#include "scheduler/process/tick_signal.h"
#include "scheduler/results/housekeeper.h"
#include "slurm/cluster.h"

namespace scheduler {

class Site {
 public:
  // `since` is the start of the process, in seconds since the epoch. The database and the signal
  // must outlive the site. Throws what its parts throw.
  Site(Config config, db::Database& database, TickSignal& tick_signal, int64_t since);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  // Call it before the first tick, on the thread that ticks: it starts the reading of micrographs
  // and the housekeeping.
  void begin();
  // Call it when another site takes over or margayd ends: this one reads and removes no more, and
  // finishes the requests that it has.
  void retire();

  const Config& config() const { return config_; }
  Daemon& daemon() { return daemon_; }
  api::Service& service() { return service_; }

 private:
  HousekeeperContext housekeeper_context();
  api::DaemonHooks hooks();
  DaemonStatus status() const;
  // A separate cluster object, which answers while the daemon's own is busy.
  std::unique_ptr<slurm::Cluster> asked_cluster() const;
  RenderedScript script_of(const api::ScriptRequest& request);
  void wake();

  const Config config_;
  db::Database& database_;
  TickSignal& tick_signal_;
  const int64_t since_;
  const SystemClock clock_;
  const int64_t made_ = clock_.now();
  const std::unique_ptr<slurm::Cluster> cluster_;
  Daemon daemon_;
  Housekeeper housekeeper_;
  Commands commands_;
  std::optional<ReaderThread> reader_;
  std::optional<KeeperThread> keeper_;
  api::Service service_;
};

// The site that ticks and answers. For any thread; a thread that still uses an older site keeps it
// alive.
class CurrentSite {
 public:
  std::shared_ptr<Site> get() const {
    const std::scoped_lock lock(mutex_);
    return site_;
  }
  void set(std::shared_ptr<Site> site) {
    const std::scoped_lock lock(mutex_);
    site_.swap(site);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Site> site_;
};

// The doctor's findings; `instance` is the database's, empty when no daemon runs.
std::vector<slurm::Finding> examine(const Config& config, const std::string& instance,
                                    bool makes_socket_folder);

}  // namespace scheduler
