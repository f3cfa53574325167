#include "scheduler/process/site.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <functional>

#include "base/environment.h"
#include "scheduler/commands/history.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/commands/render_script.h"
#include "scheduler/crash_point.h"
#include "scheduler/daemon/make_cluster.h"
#include "scheduler/daemon/site_size.h"
#include "scheduler/doctor/doctor.h"
#include "scheduler/results/search_counts.h"
#include "scheduler/script/item_options.h"

namespace scheduler {
namespace {

CrashHook crash_hook() { return abort_at(base::variable("MARGAY_CRASHPOINT")); }

// Checks an item's Slurm options; empty, so that all are refused, where jobs have none.
OptionsCheck options_check(const Config& config) {
  if (!facts_of(config.cluster).takes_options) return {};
  return [&config](const Caller& caller, const ItemOptions& options) {
    try {
      return check_item_options(config, options, caller.privileged);
    } catch (const slurm::DirectiveError& error) {
      throw BadOption(error.what());
    }
  };
}

DaemonOptions daemon_options() {
  return {.crash = crash_hook(),
          .log = [](const std::string& line) { spdlog::info("{}", line); },
          .warn = [](const std::string& line) { spdlog::warn("{}", line); }};
}

CommandsOptions command_options(const Config& config, const Daemon& daemon) {
  return {.crash = crash_hook(),
          .check_options = options_check(config),
          .quotas = config.limits,
          .urgent_allow = config.policy.urgent_allow,
          .urgent_tokens = config.policy.urgent_tokens,
          .only_owners_read = config.readers == ResultsReaders::kOwner,
          .plan = [&daemon] { return daemon.last_plan(); }};
}

}  // namespace

Site::Site(Config config, db::Database& database, TickSignal& tick_signal, int64_t since)
    : config_(std::move(config)),
      database_(database),
      tick_signal_(tick_signal),
      since_(since),
      cluster_(make_cluster(config_, database.instance())),
      daemon_(config_, database, *cluster_, clock_, daemon_options()),
      housekeeper_(housekeeper_context()),
      commands_(database, clock_, command_options(config_, daemon_)),
      service_(database, commands_, hooks()) {}

void Site::begin() {
  daemon_.note_crashes();
  reader_.emplace(daemon_, tick_signal_, config_.intervals.tick);
  keeper_.emplace(housekeeper_, config_.intervals.tick);
}

HousekeeperContext Site::housekeeper_context() {
  return {.config = config_,
          .database = database_,
          .clock = clock_,
          .crash = crash_hook(),
          .warn = [](const std::string& line) { spdlog::warn("{}", line); }};
}

void Site::retire() {
  if (reader_) reader_->stop();
  if (keeper_) keeper_->stop();
}

void Site::wake() {
  if (reader_) reader_->wake();
  if (keeper_) keeper_->wake();
  tick_signal_.wake();
}

DaemonStatus Site::status() const {
  DaemonStatus status = daemon_.status();
  status.since = since_;
  // After a reload, nobody has waited for its first tick for longer.
  if (status.last_tick == 0 && made_ > since_) status.last_tick = made_;
  return status;
}

api::DaemonHooks Site::hooks() {
  return {.status = [this] { return status(); },
          .stop = [] { kill(getpid(), SIGTERM); },
          .wake = [this] { wake(); },
          .script = [this](const api::ScriptRequest& request) { return script_of(request); },
          .examine = [this] { return examine(config_, database_.instance(), false); },
          .history =
              [this](const HistoryQuery& query) {
                return read_history(database_, config_.rates, query);
              },
          .site = [this] { return site_size(config_, asked_cluster()->facts()); },
          .gc = [this](bool dry_run) { return housekeeper_.collect(dry_run); },
          .count =
              [command = engine_command(config_)](const CountQuestion& question,
                                                  const std::function<bool()>& look) {
                return count_search(command, question, look);
              }};
}

// The daemon's own cluster is busy in the tick.
std::unique_ptr<slurm::Cluster> Site::asked_cluster() const {
  Config own = config_;
  own.state = config_.state + "/ask";
  return make_cluster(own, database_.instance());
}

RenderedScript Site::script_of(const api::ScriptRequest& request) {
  const PlanContext context{
      .config = config_, .database = database_, .now = SystemClock().now(), .nodes = [&] {
        return asked_cluster()->nodes();
      }};
  const LastPlan plan = daemon_.last_plan();
  RenderedScript script = render_item(context, plan.get(), request.item, request.shape);
  if (!request.test_only) return script;
  script.test_only = test_script(config_, *asked_cluster(), script);
  return script;
}

std::vector<slurm::Finding> examine(const Config& config, const std::string& instance,
                                    bool makes_socket_folder) {
  DoctorOptions options;
  options.instance = instance;
  options.makes_socket_folder = makes_socket_folder;
  options.make = make_cluster;
  return examine_site(config, SystemClock(), options);
}

}  // namespace scheduler
