// The daemon with a cluster that queues, like Slurm.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {

class SlurmFixture : public DaemonFixture {
 protected:
  SlurmFixture() {
    config_.cluster = ClusterKind::kSlurm;
    config_.intervals.resolve = std::chrono::seconds(5);
    config_.slurm.max_jobs = 8;
    restart();
  }

  void use_shape(Shape shape) {
    config_.slurm.shape = shape;
    restart();
  }
  std::vector<int64_t> enqueue_many(int count) {
    std::vector<int64_t> ids;
    for (int i = 0; i < count; ++i) ids.push_back(enqueue(std::to_string(i) + ".mrc").id);
    return ids;
  }
  void give_options(int64_t id, const std::map<std::string, std::string>& options) {
    db::Item changed = item(id);
    changed.options = options;
    db::ItemStore(*database_).update(changed);
  }
  slurm::JobStatus& job_of(int64_t id) { return cluster_.job(attempt(id).token); }
  // As many items whose jobs run, without the time that their submissions would take.
  std::vector<db::Attempt> run_many(int count) {
    std::vector<db::Attempt> running;
    db::Transaction transaction(*database_);
    for (int i = 0; i < count; ++i) running.push_back(run_one());
    transaction.commit();
    return running;
  }
  // A tick in which the cluster is asked nothing new.
  void tick_between_snapshots() {
    cluster_.fresh = false;
    ticks(1);
    cluster_.fresh = true;
  }
  int count_logged(const std::string& text) const {
    return static_cast<int>(std::count_if(log_.begin(), log_.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    }));
  }

 private:
  db::Attempt run_one() {
    const std::string name = std::to_string(++made_);
    const auto item_id = db::ItemStore(*database_)
                             .insert({.micrograph_path = "/data/" + name + ".mrc",
                                      .template_id = 1,
                                      .state = db::ItemState::kActive});
    db::Attempt attempt{
        .item_id = item_id,
        .token = "margay-" + database_->instance() + "-" + std::to_string(item_id) + "-a1",
        .state = db::AttemptState::kRunning,
        .shape = "1 GPU",
        .directory = folder_.file("running-" + name),
        .host = "node1"};
    std::filesystem::create_directories(attempt.directory);
    attempt.job_id = cluster_.add(attempt.token);
    attempt.id = db::AttemptStore(*database_).insert(attempt);
    return attempt;
  }

  int made_ = 0;
};

}  // namespace scheduler
