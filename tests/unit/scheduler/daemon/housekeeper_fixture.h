// A daemon with items that have ended, and what keeps its house.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "scheduler/results/housekeeper.h"
#include "tests/unit/scheduler/commands/commands_fixture.h"

namespace scheduler {

class HousekeeperTest : public CommandsTest {
 protected:
  HousekeeperTest() { keep_house(); }

  // Anew, as after a restart or with another configuration.
  void keep_house() {
    keeper_ = std::make_unique<Housekeeper>(
        HousekeeperContext{.config = config_,
                           .database = *database_,
                           .clock = clock_,
                           .crash =
                               [this](const std::string& point) {
                                 if (point != keeper_crash_) return;
                                 keeper_crash_.clear();
                                 throw Crash{};
                               },
                           .warn = [this](const std::string& line) { log_.push_back(line); }});
  }
  // Until there is nothing to do at present.
  void keep() {
    while (keeper_->step()) {
    }
  }
  // DONE, with its results and what else a search leaves.
  int64_t done(const std::string& name, db::Priority priority = db::Priority::kNormal) {
    const int64_t id = enqueue(name, priority).id;
    ticks(1);
    std::ofstream(attempt(id).directory + "/job.log") << "log";
    finish(attempt(id));
    ticks(2);
    return id;
  }
  int64_t failed(const std::string& name) {
    const int64_t id = enqueue(name).id;
    ticks(1);
    fail(attempt(id), 64, "margay-engine: bad input");
    ticks(2);
    return id;
  }
  std::string folder_of(int64_t id) const { return config_.jobs() + "/" + std::to_string(id); }
  bool has_folder(int64_t id) const { return std::filesystem::exists(folder_of(id)); }
  // Removes it and returns why that was refused; empty: it was not.
  std::string remove(int64_t id, bool results = false) { return remove_as(user_, id, results); }
  std::string remove_as(const Caller& caller, int64_t id, bool results = false) {
    const auto answers = commands_->remove(caller, {id}, results);
    return answers.front().refused ? answers.front().refused->what() : "";
  }

  std::unique_ptr<Housekeeper> keeper_;
  std::string keeper_crash_;
};

}  // namespace scheduler
