// margayd: main() of the daemon, and the wiring of its rooms.
#include <malloc.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/environment.h"
#include "db/database.h"
#include "scheduler/api/http_server.h"
#include "scheduler/api/service.h"
#include "scheduler/cli/arguments.h"
#include "scheduler/cli/context.h"
#include "scheduler/cli/findings.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/commands/render_script.h"
#include "scheduler/config/config_reader.h"
#include "scheduler/daemon/daemon.h"
#include "scheduler/daemon/make_cluster.h"
#include "scheduler/daemon/search_counts.h"
#include "scheduler/doctor/doctor.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/script/item_options.h"
#include "scheduler/script/job_script.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

constexpr int kTemporary = 75;
constexpr int kBadConfiguration = 78;
constexpr std::chrono::milliseconds kLongestStop{1500};
// Each pool of the memory allocator keeps what its largest request needed, and by default nearly
// every thread has one; with fewer than work at the same time they wait for one another.
constexpr int kMemoryPools = 4;
// Many requests one behind another each ask for a tick.
constexpr std::chrono::milliseconds kBetweenTicks{100};

struct Options {
  std::string state;
  std::string config;
  bool doctor = false;
};

// Lets the API wake the tick, and SIGTERM end it. Every member may be called by any thread.
class TickSignal {
 public:
  void wake() { set(woken_); }
  void stop() { set(stopped_); }
  void end() { set(ended_); }
  // Returns false when it is time to end.
  bool wait(std::chrono::milliseconds longest, std::chrono::milliseconds shortest = {}) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, shortest, [this] { return stopped_; });
    changed_.wait_for(lock, longest, [this] { return woken_ || stopped_; });
    woken_ = false;
    return !stopped_;
  }
  bool has_ended(std::chrono::milliseconds within) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [this] { return ended_; });
  }

 private:
  void set(bool& flag) {
    const std::scoped_lock lock(mutex_);
    flag = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopped_ = false;
  bool ended_ = false;
};

sigset_t end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// Waits for a signal that ends us. Every commit is durable and every job independent of us, so that
// a tick that hangs in the cluster may be abandoned.
void wait_for_end(TickSignal& tick_signal, const Daemon& daemon) {
  const sigset_t signals = end_signals();
  int number = 0;
  sigwait(&signals, &number);
  tick_signal.stop();
  if (tick_signal.has_ended(kLongestStop)) return;
  daemon.abandon_work();
  std::_Exit(0);
}

class EndThread {
 public:
  EndThread(TickSignal& tick_signal, const Daemon& daemon)
      : tick_signal_(tick_signal),
        thread_([&tick_signal, &daemon] { wait_for_end(tick_signal, daemon); }) {}
  ~EndThread() {
    tick_signal_.end();
    kill(getpid(), SIGTERM);
    thread_.join();
  }
  EndThread(const EndThread&) = delete;
  EndThread& operator=(const EndThread&) = delete;

 private:
  TickSignal& tick_signal_;
  std::thread thread_;
};

// Reads micrographs while there are some to be read.
class ReaderThread {
 public:
  ReaderThread(Daemon& daemon, TickSignal& tick_signal, std::chrono::milliseconds pause)
      : daemon_(daemon), tick_signal_(tick_signal), pause_(pause), thread_([this] { run(); }) {}
  ~ReaderThread() {
    signal_.stop();
    daemon_.stop_reading();
    thread_.join();
  }
  ReaderThread(const ReaderThread&) = delete;
  ReaderThread& operator=(const ReaderThread&) = delete;
  // There may be more to read. By any thread.
  void wake() { signal_.wake(); }

 private:
  void run() {
    do {
      while (read()) tick_signal_.wake();
    } while (signal_.wait(pause_));
  }
  // What keeps it from reading, such as a full disk, keeps the tick from working, too.
  bool read() {
    try {
      return daemon_.read_micrographs();
    } catch (const std::exception& error) {
      if (error.what() != problem_) spdlog::error("micrographs are not read: {}", error.what());
      problem_ = error.what();
      return false;
    }
  }

  Daemon& daemon_;
  TickSignal& tick_signal_;
  const std::chrono::milliseconds pause_;
  TickSignal signal_;
  std::string problem_;
  std::thread thread_;
};

Config read(const Options& options) {
  Config config;
  if (!options.config.empty()) config = read_config(options.config);
  if (!options.state.empty()) config.state = options.state;
  complete_config(config, fs::read_symlink("/proc/self/exe").parent_path().string());
  return config;
}

Config load(const Options& options) {
  Config config = read(options);
  if (access(config.engine.c_str(), X_OK) != 0) {
    throw ConfigError("cannot run the engine '" + config.engine + "': " + std::strerror(errno) +
                      "; set 'engine' in the configuration");
  }
  check_job_program(config);
  check_script_templates(config);
  make_folders(config);
  return config;
}

CrashHook crash_hook() { return abort_at(base::variable("MARGAY_CRASHPOINT")); }

std::vector<slurm::Finding> examine(const Config& config, const std::string& instance) {
  DoctorOptions options;
  options.instance = instance;
  options.make = make_cluster;
  return examine_site(config, SystemClock(), options);
}

RenderedScript script_of(const Config& config, db::Database& database,
                         const api::ScriptRequest& request) {
  // The daemon's own cluster is busy in the tick.
  Config own = config;
  own.state = config.state + "/ask";
  const PlanContext context{
      .config = config, .database = database, .now = SystemClock().now(), .nodes = [&] {
        return make_cluster(own, database.instance())->nodes();
      }};
  RenderedScript script = render_item(context, request.item, request.shape);
  if (!request.test_only) return script;
  script.test_only = test_script(config, *make_cluster(own, database.instance()), script);
  return script;
}

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

api::ServerLimits server_limits(const Limits& limits) {
  return {.connections = limits.connections,
          .connections_per_user = limits.connections_per_user,
          .requests_per_second = limits.requests_per_second,
          .body = static_cast<size_t>(limits.body)};
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

void serve(const Config& config, db::Database& database) {
  const SystemClock clock;
  const auto cluster = make_cluster(config, database.instance());
  DaemonOptions options{.crash = crash_hook(),
                        .log = [](const std::string& line) { spdlog::info("{}", line); }};
  Daemon daemon(config, database, *cluster, clock, options);
  daemon.note_crashes();
  Commands commands(database, clock,
                    {.crash = options.crash,
                     .check_options = options_check(config),
                     .quotas = config.limits,
                     .urgent_allow = config.policy.urgent_allow,
                     .urgent_tokens = config.policy.urgent_tokens,
                     .plan = [&daemon] { return daemon.last_plan(); }});
  TickSignal tick_signal;
  const EndThread end(tick_signal, daemon);
  ReaderThread reader(daemon, tick_signal, config.intervals.tick);
  api::Service service(
      database, commands,
      {.status = [&daemon] { return daemon.status(); },
       .stop = [] { kill(getpid(), SIGTERM); },
       .wake =
           [&] {
             reader.wake();
             tick_signal.wake();
           },
       .script =
           [&](const api::ScriptRequest& request) { return script_of(config, database, request); },
       .examine = [&] { return examine(config, database.instance()); },
       .count =
           [command = engine_command(config)](const CountQuestion& question,
                                              const std::function<bool()>& look) {
             return count_search(command, question, look);
           }});
  const api::HttpServer server(
      {.socket = config.socket,
       .group = config.socket_group,
       .limits = server_limits(config.limits),
       .when_quiet = [] { malloc_trim(0); },
       .takes_long = api::takes_long},
      [&service](api::Request& request) { return service.handle(request); });
  std::printf("margayd ready: socket %s, database %s\n", config.socket.c_str(),
              config.database().c_str());
  std::fflush(stdout);
  do {
    daemon.tick();
  } while (tick_signal.wait(config.intervals.tick, std::min(kBetweenTicks, config.intervals.tick)));
  service.stop_waiting();
  spdlog::info("margayd stops; running jobs continue");
}

int refuse(const std::string& why, int code) {
  std::fprintf(stderr, "margayd: %s\n", why.c_str());
  return code;
}

int run_doctor(const Options& options) {
  const auto findings = examine(read(options), "");
  const cli::Screen screen = cli::find_screen();
  std::fputs(cli::findings_text(findings, screen.columns, screen.colour).c_str(), stdout);
  return is_bad(findings) ? 1 : 0;
}

int run_daemon(const Options& options) {
  mallopt(M_ARENA_MAX, kMemoryPools);
  const sigset_t signals = end_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  spdlog::set_default_logger(spdlog::stderr_logger_mt("margayd"));
  const Config config = load(options);
  db::Database database(config.database());
  check_jobs_owner(config, database.instance());
  serve(config, database);
  return 0;
}

int run(const Options& options) {
  umask(0027);
  try {
    return options.doctor ? run_doctor(options) : run_daemon(options);
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

}  // namespace
}  // namespace scheduler

int main(int argc, char** argv) {
  CLI::App app(
      "Keep the queue of micrographs, run their searches and serve the `margay` command.\n"
      "Runs in the foreground; SIGTERM stops it and leaves its jobs running.");
  app.name("margayd");
  scheduler::Options options;
  app.add_option("--state", options.state,
                 "State folder: database, socket and jobs; on a local disk");
  app.add_option("--config", options.config, "Site configuration (YAML)");
  app.add_flag(
      "--doctor", options.doctor,
      "Check the installation and exit, even where no daemon can start yet; exits with 1 when "
      "a check fails");
  app.set_version_flag("--version", std::string("margayd ") + MARGAY_VERSION);
  app.footer("Example: margayd --state /var/lib/margay --config /etc/margay/margayd.yaml");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return scheduler::refuse(scheduler::cli::usage_message(app, error), 2);
  }
  return scheduler::run(options);
}
