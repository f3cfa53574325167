#include "scheduler/process/process.h"

#include <malloc.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/group_lookup.h"
#include "base/output.h"
#include "base/text.h"
#include "db/backup.h"
#include "db/database.h"
#include "scheduler/cli/findings.h"
#include "scheduler/cli/terminal/context.h"
#include "scheduler/config/config_reader.h"
#include "scheduler/config/places.h"
#include "scheduler/doctor/doctor.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/http/http_server.h"
#include "scheduler/process/init.h"
#include "scheduler/process/local_gpus.h"
#include "scheduler/process/log.h"
#include "scheduler/process/notify.h"
#include "scheduler/process/reload.h"
#include "scheduler/process/signal_thread.h"
#include "scheduler/process/site.h"
#include "scheduler/script/job_script.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

constexpr int kTemporary = 75;
constexpr int kBadConfiguration = 78;
// Each pool of the memory allocator keeps what its largest request needed, and by default nearly
// every thread has one; with fewer than work at the same time they wait for one another.
constexpr int kMemoryPools = 4;
// Many requests one behind another each ask for a tick.
constexpr std::chrono::milliseconds kBetweenTicks{100};

bool is_given_nothing(const Options& options) {
  return options.config.empty() && options.state.empty();
}

Config read(const Options& options) {
  Config config;
  if (!options.config.empty()) config = read_config(options.config);
  if (!options.state.empty()) config.state = options.state;
  if (is_given_nothing(options)) {
    config.state = default_state(user_folders());
    config.socket = default_socket(user_folders());
  }
  complete_config(config, fs::read_symlink("/proc/self/exe").parent_path().string());
  return config;
}

void make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::create_directories(folder, error) && !error) return;
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (!error) return;
  throw ConfigError("cannot make the socket's folder '" + folder.string() +
                    "': " + error.message() + "; is XDG_RUNTIME_DIR yours?");
}

// A group that cannot be looked up now may be found at another start.
void check_socket_group(const std::string& name) {
  if (name.empty()) return;
  const base::GroupLookup group = base::look_up_group(name);
  if (group.number || group.error != 0) return;
  throw ConfigError("socket_group: " + base::problem_of(group, name) +
                    "; create it, or correct the configuration");
}

Config load(const Options& options) {
  Config config = read(options);
  if (access(config.engine.c_str(), X_OK) != 0) {
    throw ConfigError("cannot run the engine '" + config.engine + "': " + std::strerror(errno) +
                      "; set 'engine' in the configuration");
  }
  check_job_program(config);
  check_socket_group(config.socket_group);
  find_local_gpus(config);
  if (!config.local.found_note.empty()) spdlog::warn("GPUs: {}", config.local.found_note);
  check_script_templates(config);
  return config;
}

void make_folders_of(const Config& config) {
  for (const std::string& problem : make_folders(config)) spdlog::warn("{}", problem);
}

api::ServerOptions server_options(const Config& config) {
  return {.socket = config.socket,
          .group = config.socket_group,
          .limits = {.connections = config.limits.connections,
                     .connections_per_user = config.limits.connections_per_user,
                     .requests_per_second = config.limits.requests_per_second,
                     .body = static_cast<size_t>(config.limits.body)},
          .when_quiet = [] { malloc_trim(0); },
          .takes_long = api::takes_long};
}

void check_jobs_owner(const Config& config, const std::string& instance) {
  const std::string owner = claim_jobs(config.jobs(), instance);
  if (owner == instance) return;
  throw ConfigError("the folder of jobs '" + config.jobs() + "' belongs to another database (" +
                    owner + ", this one is " + instance +
                    "): set 'jobs' to another folder, or, if that database is gone for good, "
                    "remove '" +
                    config.jobs() + "/" + kOwnerFile + "'");
}

// One line of `systemctl status`.
std::string status_line(const DaemonStatus& status) {
  if (!status.problem.empty()) return status.problem;
  if (!status.pause_reason.empty()) return "paused: " + status.pause_reason;
  return std::to_string(status.busy_slots) + " searches submitted, cluster: " + status.cluster;
}

class Server {
 public:
  Server(const Options& options, Config config, db::Database& database)
      : options_(options), database_(database), since_(SystemClock().now()) {
    current_.set(make_site(std::move(config)));
    current_.get()->begin();
  }

  // Until a signal ends it.
  void serve() {
    const SignalThread signals(tick_signal_, !options_.config.empty(), [this] {
      if (const auto site = current_.get()) site->daemon().abandon_work();
    });
    {
      const std::shared_ptr<Site> first = current_.get();
      const api::HttpServer server(server_options(first->config()), [this](api::Request& request) {
        return current_.get()->service().handle(request);
      });
      tell_ready(first->config());
      while (round()) {
      }
      current_.get()->retire();
      current_.get()->service().stop_waiting();
      spdlog::info("margayd stops; running jobs continue");
    }
    // Ends the thread that reads; if that takes long, the signals' thread ends the process.
    current_.set(nullptr);
  }

 private:
  std::shared_ptr<Site> make_site(Config config) {
    return std::make_shared<Site>(std::move(config), database_, tick_signal_, since_);
  }

  static void tell_ready(const Config& config) {
    std::printf("margayd ready: socket %s, database %s\n", config.socket.c_str(),
                config.database().c_str());
    std::fflush(stdout);
    notify("READY=1");
  }

  // Returns false when it is time to end.
  bool round() {
    const std::shared_ptr<Site> site = current_.get();
    site->daemon().tick();
    if (is_notified()) notify("WATCHDOG=1\nSTATUS=" + status_line(site->daemon().status()));
    if (tick_signal_.takes_reload()) reload(*site);
    const auto tick = current_.get()->config().intervals.tick;
    const bool goes_on = tick_signal_.wait(tick, std::min(kBetweenTicks, tick));
    if (!goes_on) notify("STOPPING=1");
    return goes_on;
  }

  void reload(Site& running) {
    notify_reloading();
    try {
      Reload wanted = reload_of(running.config(), load(options_));
      check_gpus(running.config().local, wanted.config.local);
      make_folders_of(wanted.config);
      const std::shared_ptr<Site> site = make_site(std::move(wanted.config));
      running.retire();
      site->begin();
      current_.set(site);
      tick_signal_.wake();  // it has no plan yet
      // The line is logged where either level has it.
      const LogLevel level = site->config().log_level;
      if (level < running.config().log_level) set_log_level(level);
      spdlog::info("configuration '{}' reloaded", options_.config);
      set_log_level(level);
      if (!wanted.need_restart.empty()) {
        spdlog::warn("changed, but applied only when margayd is restarted: {}",
                     base::joined(wanted.need_restart, ", "));
      }
    } catch (const std::exception& error) {
      spdlog::error("configuration not reloaded, the running one is kept: {}", error.what());
    }
    notify("READY=1");
  }

  const Options& options_;
  db::Database& database_;
  const int64_t since_;
  TickSignal tick_signal_;
  CurrentSite current_;
};

int run_doctor(const Options& options) {
  Config config = read(options);
  find_local_gpus(config);
  const auto findings = examine(config, "", is_given_nothing(options));
  const cli::Screen screen = cli::find_screen();
  std::fputs(cli::findings_text(findings, screen.columns, screen.colour).c_str(), stdout);
  return is_bad(findings) ? 1 : 0;
}

int run_init(const Options& options) {
  write_site_file(options.init_file);
  return 0;
}

int run_backup(const Options& options) {
  const std::string database = read(options).database();
  db::back_up(database, options.backup);
  std::printf("%s copied to %s\n", database.c_str(), options.backup.c_str());
  return 0;
}

int run_daemon(const Options& options) {
  mallopt(M_ARENA_MAX, kMemoryPools);
  block_signals();
  signal(SIGPIPE, SIG_IGN);
  open_log();
  Config config = load(options);
  set_log_level(config.log_level);
  make_folders_of(config);
  if (is_given_nothing(options)) make_private_folder(fs::path(config.socket).parent_path());
  db::Database database(config.database());
  check_jobs_owner(config, database.instance());
  Server(options, std::move(config), database).serve();
  return 0;
}

}  // namespace

int refuse(const std::string& why, int code) {
  // systemd takes an error's priority from before the line.
  std::fprintf(stderr, "%smargayd: %s\n", journal_sink() ? "<3>" : "", why.c_str());
  return code;
}

int end_with(int code) { return base::flush_output() ? code : refuse(base::kOutputLost, 1); }

int run(const Options& options) {
  try {
    // The service's user is to read root's file: it is as open as the administrator's other files.
    if (options.init) return end_with(run_init(options));
    umask(0027);
    if (!options.backup.empty()) return end_with(run_backup(options));
    return options.doctor ? end_with(run_doctor(options)) : run_daemon(options);
  } catch (const GpusMissing& error) {
    // The driver may still be starting: systemd tries again.
    return refuse(error.what(), kTemporary);
  } catch (const ConfigError& error) {
    return refuse(error.what(), kBadConfiguration);
  } catch (const db::DatabaseRefused& error) {
    return refuse(error.what(), kBadConfiguration);
  } catch (const db::DatabaseHeld& error) {
    return refuse(error.what(), kTemporary);
  } catch (const std::exception& error) {
    return refuse(error.what(), 1);
  }
}

}  // namespace scheduler
