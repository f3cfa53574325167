// One history of a daemon, its users and the model cluster, made by a seed, and what must hold at
// every moment of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/database.h"
#include "scheduler/commands/commands.h"
#include "scheduler/daemon/daemon.h"
#include "tests/fakes/fake_clock.h"
#include "tests/scratch_folder.h"
#include "tests/unit/scheduler/model/model_cluster.h"
#include "tests/unit/scheduler/model/model_random.h"

namespace tests {

class ModelWorld {
 public:
  explicit ModelWorld(uint64_t seed);
  // The whole history. Empty when everything held, else what did not.
  std::string run();
  // What happened, for whoever looks into a seed.
  const std::vector<std::string>& log() const { return log_; }
  // The points at which the process ended.
  const std::multiset<std::string>& crashes() const { return crashes_; }
  int faults() const { return cluster_->faults_done(); }
  int runs() const { return static_cast<int>(cluster_->runs().size()); }
  // Items by the state in which they ended.
  std::map<db::ItemState, int64_t> ends() const;
  std::map<db::AttemptState, int64_t> attempts() const;

 private:
  struct Crash {};  // no std::exception: nothing catches it on its way

  void configure();
  void open();
  void enqueue();
  void pass(int64_t ms);
  bool survives(const std::function<void()>& action);
  void step(int64_t ms);
  void user_acts();
  void act(int64_t id);
  void jump_clock();
  void fault_free();
  bool all_ended();
  // Each sets problem_.
  void check_all();
  void note_finished();
  void check_item(const db::Item& item);
  void check_attempts(const db::Item& item);
  void check_end();
  void fail(const std::string& what);
  void note(const std::string& line);
  void arm();
  scheduler::CrashHook crash_hook();

  ModelRandom random_;
  ScratchFolder folder_;
  FakeClock clock_;
  std::unique_ptr<ModelCluster> cluster_;
  scheduler::Config config_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<scheduler::Commands> commands_;
  std::unique_ptr<scheduler::Daemon> daemon_;
  int crash_of_1000_ = 0;  // at each point that is reached
  int64_t passed_ms_ = 0;
  std::string armed_;
  int armed_left_ = 0;
  std::multiset<std::string> crashes_;
  int micrographs_ = 0;
  std::set<int64_t> items_;
  std::set<int64_t> done_;
  std::set<size_t> finished_;           // runs, by index
  std::set<std::string> must_be_done_;  // attempts that were open when their run finished
  std::set<int64_t> cancelled_by_user_;
  std::map<int64_t, db::AttemptState> ended_;  // attempts
  std::vector<std::string> log_;
  std::string problem_;
};

}  // namespace tests
