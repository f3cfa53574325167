// The API: turns requests into commands, and their results and errors into JSON (docs/api.md).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/file_work.h"
#include "scheduler/commands/history.h"
#include "scheduler/commands/render_script.h"
#include "scheduler/daemon/daemon_status.h"
#include "scheduler/daemon/site_size.h"
#include "scheduler/http/http_server.h"
#include "scheduler/results/housekeeper.h"
#include "scheduler/results/search_counts.h"
#include "slurm/cluster.h"

namespace scheduler::api {

struct ScriptRequest {
  int64_t item = 0;
  std::optional<Shape> shape{};
  bool test_only = false;  // also ask the cluster whether it would accept the script
};

// What the daemon offers to the API, whose threads all may call it. None of these waits for the
// tick: those that ask a cluster use their own Cluster object.
struct DaemonHooks {
  std::function<DaemonStatus()> status;
  std::function<void()> stop;  // asks margayd to end; running jobs continue
  std::function<void()> wake;  // something changed: asks for a tick at once
  std::function<RenderedScript(const ScriptRequest&)> script{};
  std::function<std::vector<slurm::Finding>()> examine{};  // takes a minute or two
  std::function<History(const HistoryQuery&)> history{};
  std::function<SiteSize()> site{};            // asks the cluster
  std::function<GcReport(bool dry_run)> gc{};  // may take long
  // See count_search(); must own all that it uses. Not set: templates are not checked by an engine.
  std::function<CountAnswer(const CountQuestion&, const std::function<bool()>& look)> count{};
};

class Service {
 public:
  // `files` are options for reading users' files; a look at one takes moments or is given up.
  Service(db::Database& database, Commands& commands, DaemonHooks hooks, FileWorkOptions files = {})
      : database_(database),
        commands_(commands),
        hooks_(std::move(hooks)),
        looks_({.threads = files.threads, .longest = kLongestLook, .before = files.before}),
        files_(std::move(files)) {}

  // Never throws: errors are in the response. May be called by several threads at once.
  Response handle(Request& request);
  // From here on no request waits for a user's files. For any thread.
  void stop_waiting() {
    looks_.stop();
    files_.stop();
  }

 private:
  static constexpr std::chrono::seconds kLongestLook{10};

  Response respond(Request& request);
  nlohmann::json route(Request& request);
  nlohmann::json route_item(Request& request, const std::vector<std::string>& path);
  nlohmann::json change(const Request& request, int64_t item, const std::string& action);
  nlohmann::json templates() const;
  nlohmann::json change_template(const Request& request, const std::vector<std::string>& path);
  template <typename Result, typename Work>
  static Result on_users_thread(FileWork& files, const Caller& caller, const Request& request,
                                const nlohmann::json& entry, Work work);
  FileFacts look(const Caller& caller, const Request& request, const nlohmann::json& entry);
  CountAnswer count(const Caller& caller, const Request& request, const nlohmann::json& body,
                    const TemplateRequest& wanted);
  nlohmann::json add_template(const Request& request);
  struct Entry;
  template <typename Action>
  static void guarded(Entry& entry, Action action);
  void look_at(const Caller& caller, std::vector<Entry>& entries);
  nlohmann::json enqueue(const Request& request);
  ItemAction action_of(const Caller& caller, const std::string& action, const nlohmann::json& body);
  nlohmann::json remove(const Request& request, int64_t item);
  nlohmann::json change_several(const Request& request);
  std::vector<Enqueued> changed(const Caller& caller, const Request& request,
                                const nlohmann::json& body, const std::vector<int64_t>& items,
                                bool dry_run);
  std::map<int64_t, RetryRequest> retries_of(const Caller& caller, const Request& request,
                                             const nlohmann::json& body,
                                             std::map<int64_t, CommandError>& refused);
  RetryRequest retry_of(const Caller& caller, const Request& request);
  std::string list(const Request& request) const;
  nlohmann::json progress_of_newest(int64_t item) const;
  nlohmann::json show(const Request& request, int64_t item) const;
  nlohmann::json log(const Request& request, int64_t item) const;
  nlohmann::json results(const Request& request, int64_t item) const;
  nlohmann::json script(const Request& request, int64_t item) const;
  nlohmann::json history(const Request& request) const;
  nlohmann::json doctor(const Request& request);
  nlohmann::json gc(const Request& request);
  nlohmann::json stop(const Request& request);
  nlohmann::json pause(const Request& request);
  nlohmann::json resume(const Request& request);

  nlohmann::json route_database(const Request& request, const std::string& action);
  nlohmann::json back_up(const Request& request);
  nlohmann::json status() const;
  nlohmann::json whoami(const Request& request) const;
  std::string template_name(int64_t id) const;

  db::Database& database_;
  Commands& commands_;
  DaemonHooks hooks_;
  FileWork looks_;
  FileWork files_;
  std::atomic<bool> examining_ = false;
  std::atomic<bool> copying_ = false;
};

// Whether the request reads a whole file, copies the database, waits for a cluster or looks at all
// folders.
bool takes_long(const Head& head);

}  // namespace scheduler::api
