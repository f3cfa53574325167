// A real server on a real socket with a real database, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"
#include "db/attempts.h"
#include "db/database.h"
#include "scheduler/api/service.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/known_queue.h"
#include "scheduler/http/http_client.h"
#include "scheduler/http/http_server.h"
#include "tests/small_mrc.h"

namespace scheduler {

// Leopard-EM settings that can be registered.
std::string search_settings();

class ApiFixture : public testing::Test {
 protected:
  explicit ApiFixture(bool only_owners_read = false);
  ~ApiFixture() override;

  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  // Writes `text`, or a small MRC image, readable by all; returns the path.
  std::string write(const std::string& name, const std::string& text) const;
  std::string write(const std::string& name) const { return write(name, tests::small_mrc(name)); }

  nlohmann::json get(const std::string& target) const;
  // With the status as "status".
  nlohmann::json post(const std::string& target, const nlohmann::json& body,
                      const std::vector<int>& files = {}) const;

  // A template "ribosome", and an item of a new micrograph; the item's number.
  void register_template();
  int64_t enqueue(const std::string& name);
  // The item is ACTIVE with one attempt whose folder is in the scratch folder.
  db::Attempt activate(int64_t item) const;

  // What `margay` does with these arguments and this socket.
  struct Outcome {
    int exit = -1;
    std::string out;
    std::string error;
    nlohmann::json document() const { return nlohmann::json::parse(out); }
  };
  Outcome margay(std::vector<std::string> arguments) const;

  // What the daemon does when it is woken, as far as users see it.
  void plan_as_the_daemon();

  // What `action` returns in a thread with the rights of `nobody`; -1: it cannot be had.
  static int as_nobody(const std::function<int()>& action);

  std::string folder_;
  SystemClock clock_;
  // For users who are not privileged.
  Limits quotas_{.items_per_user = 3, .labels_per_user = 2, .templates_per_user = 2};
  std::unique_ptr<db::Database> database_;
  std::mutex planning_;
  std::unique_ptr<KnownQueue> queue_;  // guarded by planning_
  PlanBoard plans_;
  std::unique_ptr<Commands> commands_;
  std::unique_ptr<api::Service> service_;
  std::unique_ptr<api::HttpServer> server_;
  DaemonStatus status_;
  RenderedScript script_{.text = "#!/bin/bash\ntrue\n", .token = "margay-x-1-a1"};
  std::vector<api::ScriptRequest> script_requests_;
  std::function<std::vector<slurm::Finding>()> examine_ = [] {
    return std::vector<slurm::Finding>();
  };
  std::function<GcReport(bool)> gc_ = [](bool) { return GcReport(); };
  SiteSize site_{.nodes = 2, .gpus_per_node = 4, .max_jobs = 8};
  std::function<CountAnswer(const CountQuestion&)> count_ = [](const CountQuestion&) {
    return CountAnswer();
  };
  std::atomic<int> stops_ = 0;
  std::atomic<int> wakes_ = 0;
  std::atomic<int> commits_ = 0;  // of users' commands
};

}  // namespace scheduler
