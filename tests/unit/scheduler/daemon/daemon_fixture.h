// A daemon with a real database in a scratch folder, a fake cluster and a fake clock. Jobs "run"
// when the test decides, and leave the files that the engine leaves.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/attempts.h"
#include "db/database.h"
#include "db/items.h"
#include "db/results.h"
#include "scheduler/commands/commands.h"
#include "scheduler/daemon/daemon.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_cluster.h"
#include "tests/scratch_folder.h"

namespace scheduler {

// What a crash point throws in place of ending the process; no std::exception, so that nothing
// catches it on its way.
struct Crash {};

class DaemonFixture : public testing::Test {
 protected:
  DaemonFixture();

  // As after kill -9: the database and the daemon anew, files and cluster as they were.
  void restart();
  // Restarts with a crash at this point; empty = none.
  void restart_with_crash_at(const std::string& point);
  // False when it crashed.
  bool tick();
  void ticks(int count);

  db::Item enqueue(const std::string& name, db::Priority priority = db::Priority::kNormal,
                   const std::string& content = "");
  // As the daemon's second thread does until there is nothing to read.
  void read_micrographs();
  // As its owner, who has opened the micrograph.
  db::Item retry(int64_t id, RetryRequest request = {});
  db::Item item(int64_t id) { return db::ItemStore(*database_).find(id).value(); }
  // With their scripts.
  std::vector<db::Attempt> attempts(int64_t id);
  db::Attempt attempt(int64_t id) { return attempts(id).back(); }
  // What its owner is shown.
  std::string explained(int64_t id) const { return commands_->show(id).explanation; }
  std::optional<db::Result> result(int64_t id) { return db::ResultStore(*database_).find(id); }

  // The engine's files of this attempt, as if the search were done.
  void leave_manifest(const db::Attempt& attempt, const std::string& token = "");
  void finish(const db::Attempt& attempt);
  void fail(const db::Attempt& attempt, int exit_code, const std::string& log = "");

  tests::ScratchFolder folder_;
  tests::FakeClock clock_;
  tests::FakeCluster cluster_;
  Config config_;
  Caller user_{.uid = 1000, .name = "ann"};
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<Commands> commands_;
  std::unique_ptr<Daemon> daemon_;
  std::vector<std::string> log_;
  std::string crash_at_;
  std::optional<int64_t> free_bytes_ = int64_t{1} << 40;  // unset: as the disk has
  std::vector<std::string> reached_;
  // Long, so that no test depends on how busy the machine is.
  OwnerThreadLimits file_threads_{.timeout = std::chrono::minutes(2)};
  std::function<void(const std::string&)> before_open_;  // see DaemonOptions
};

}  // namespace scheduler
