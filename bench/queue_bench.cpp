// How the queue grows: the tick, listing, enqueueing and the daemon's memory with 1,000, 10,000 and
// 100,000 waiting items, and with 10,000 beside 100,000 that have ended. The ratio to the first
// column is what to compare between machines and versions.
//
//   queue_bench [FOLDER]    a scratch folder on a local disk; default: the system's
//
// `margay` and `margayd` are those beside this program. The tick is measured in this process, with
// a cluster whose slots are all busy; the rest with the programs.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/mrc_bytes.h"
#include "base/spawn.h"
#include "bench/still_cluster.h"
#include "db/items.h"
#include "db/templates.h"
#include "scheduler/commands/known_queue.h"
#include "scheduler/daemon/daemon.h"
#include "scheduler/files/jobs_owner.h"

namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr int kSizes[] = {1'000, 10'000, 100'000};
constexpr int kFiles = 10'000;
constexpr int kListsAtOnce = 16;
constexpr int kBeside = 10'000;  // waiting items beside which
constexpr int kEnded = 100'000;  // so many have ended

double milliseconds(const std::function<void()>& action) {
  const auto start = Steady::now();
  action();
  return std::chrono::duration<double, std::milli>(Steady::now() - start).count();
}

double median(int times, const std::function<void()>& action) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) all.push_back(milliseconds(action));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Of a process, in kB: VmRSS or VmHWM.
int64_t memory_of(pid_t pid, const std::string& field) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":"))
      return std::strtoll(line.c_str() + field.size() + 1, nullptr, 10);
  }
  return 0;
}

void add_template(db::Database& database) {
  db::TemplateStore(database).insert({.name = "ribosome", .owner = "bench", .created = 1});
}

// Items whose micrographs were read.
void add_items(db::Database& database, int64_t first, int64_t count,
               db::ItemState state = db::ItemState::kQueued) {
  db::ItemStore items(database);
  db::Transaction transaction(database);
  for (int64_t i = first; i < first + count; ++i) {
    items.insert({.micrograph_path = "/data/session/2026-11-23_" + std::to_string(i) + ".mrc",
                  .template_id = 1,
                  .state = state,
                  .ctf = {.defocus_u = 12000, .defocus_v = 11800, .source = "option"},
                  .micrograph_bytes = 1,
                  .micrograph_sha256 = std::string(64, 'a'),
                  .micrograph_ctime_ns = 1,
                  .owner_uid = 1000 + i % 7,
                  .owner = "user" + std::to_string(i % 7),
                  .created = 1'700'000'000 + i,
                  .changed = 1'700'000'000 + i});
  }
  transaction.commit();
}

scheduler::Config config_in(const std::string& folder) {
  scheduler::Config config;
  config.state = folder;
  config.engine = "/bin/true";
  config.local.slots = 4;
  fs::create_directories(config.jobs());
  return config;
}

struct Row {
  std::string name;
  std::string unit;
  std::vector<double> values{};  // one for each of kSizes
};

// In this process: a tick.
void measure_ticks(const std::string& folder, std::vector<Row>& rows) {
  const scheduler::Config config = config_in(folder);
  db::Database database(config.database());
  scheduler::claim_jobs(config.jobs(), database.instance());
  add_template(database);
  const scheduler::SystemClock clock;
  bench::StillCluster cluster;
  scheduler::Daemon daemon(config, database, cluster, clock);
  bench::occupy_slots(database, cluster, config.local.slots);
  daemon.tick();
  Row first{"first tick", "ms"}, tick{"tick, nothing changed", "ms"},
      changed{"tick, 100 items changed", "ms"};
  int64_t there = 0;
  for (const int size : kSizes) {
    add_items(database, there, size - there);
    there = size;
    first.values.push_back(milliseconds([&] { daemon.tick(); }));
    tick.values.push_back(median(21, [&] { daemon.tick(); }));
    changed.values.push_back(median(21, [&] {
      database.connection().execute("UPDATE items SET changed = changed + 1 WHERE id % " +
                                    std::to_string(size / 100) + " = 0");
      daemon.tick();
    }));
  }
  rows.insert(rows.end(), {first, tick, changed});
}

pid_t start_program(const std::vector<std::string>& words) {
  base::Spawn spawn;
  spawn.open(STDOUT_FILENO, "/dev/null", O_WRONLY);
  pid_t child = -1;
  if (const int error = spawn.run(words, child); error != 0) {
    throw std::runtime_error(words[0] + ": " + std::strerror(error));
  }
  return child;
}

void wait_for(pid_t program) {
  int status = 0;
  if (waitpid(program, &status, 0) == program && status == 0) return;
  throw std::runtime_error("a program failed; its message is above");
}

class Programs {
 public:
  explicit Programs(const std::string& folder)
      : beside_(fs::read_symlink("/proc/self/exe").parent_path()), folder_(folder) {
    daemon_ = start_program({beside_ / "margayd", "--state", folder, "--config", folder + ".yaml"});
    for (int i = 0; i < 600 && !fs::exists(socket()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    run({"pause", "--reason", "benchmark"});
  }
  ~Programs() {
    kill(daemon_, SIGTERM);
    waitpid(daemon_, nullptr, 0);
  }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  pid_t start(std::vector<std::string> words) const {
    words.insert(words.begin(), beside_ / "margay");
    words.insert(words.begin() + 2, {"--socket", socket()});
    return start_program(words);
  }
  void run(const std::vector<std::string>& words) const { wait_for(start(words)); }
  pid_t daemon() const { return daemon_; }

 private:
  std::string socket() const { return folder_ + "/margay.sock"; }

  fs::path beside_;
  std::string folder_;
  pid_t daemon_ = -1;
};

// An MRC file of 16 x 16 bytes. Its number is in its first pixels, so that no two are the same.
std::string small_micrograph(int number) {
  namespace mrc = base::mrc_bytes;
  constexpr int kSide = 16;
  mrc::HeaderBytes header{};
  for (const size_t size : {mrc::kNx, mrc::kNy}) mrc::put<int32_t>(header, size, kSide);
  mrc::put<int32_t>(header, mrc::kNz, 1);
  for (size_t axis = 0; axis < 3; ++axis) {
    mrc::put<int32_t>(header, mrc::kMx + 4 * axis, 1);
    mrc::put(header, mrc::kMapC + 4 * axis, static_cast<int32_t>(axis + 1));
  }
  for (size_t i = 0; i < 4; ++i) mrc::put(header, mrc::kMapStamp + i, "MAP "[i]);
  for (size_t i = 0; i < 2; ++i) mrc::put<unsigned char>(header, mrc::kMachineStamp + i, 0x44);
  std::string pixels = std::to_string(number);
  pixels.resize(size_t{kSide} * kSide, ' ');
  return std::string(header.begin(), header.end()) + pixels;
}

std::vector<std::string> enqueue_words(const std::string& files) {
  return {"enqueue", files,         "--template", "ribosome",  "--defocus-u",
          "12000",   "--defocus-v", "12000",      "--same-ctf"};
}

// With the programs, one daemon for each size.
void measure_programs(const std::string& folder, std::vector<Row>& rows) {
  Row page{"margay list --limit 1000", "ms"}, all{"margay list", "ms"},
      brief{"margay status", "ms"}, enqueue{"margay enqueue, 10,000 files", "ms"},
      resident{"daemon, at rest", "MB"},
      bytes{"... for each item more than in the first column", "bytes"},
      peak{"daemon, most with 16 lists at once", "MB"};
  const std::string files = folder + "-files";
  fs::create_directories(files);
  for (int i = 0; i < kFiles; ++i) {
    const std::string name = "m" + std::to_string(i) + ".mrc";
    std::ofstream(files + "/" + name, std::ios::binary) << small_micrograph(i);
  }
  for (const int size : kSizes) {
    const std::string state = folder + "-" + std::to_string(size);
    std::ofstream(state + ".yaml") << "engine: /bin/true\njob: /bin/true\n";
    const scheduler::Config config = config_in(state);
    {
      db::Database database(config.database());
      add_template(database);
      add_items(database, 0, size);
    }
    const Programs programs(state);
    std::this_thread::sleep_for(std::chrono::seconds(5));
    resident.values.push_back(static_cast<double>(memory_of(programs.daemon(), "VmRSS")) / 1000);
    const double more = 1e6 * (resident.values.back() - resident.values.front());
    bytes.values.push_back(size == kSizes[0] ? 0 : more / (size - kSizes[0]));
    brief.values.push_back(median(5, [&] { programs.run({"status"}); }));
    page.values.push_back(median(5, [&] { programs.run({"list", "--limit", "1000"}); }));
    all.values.push_back(median(3, [&] { programs.run({"list"}); }));
    std::vector<pid_t> lists;
    for (int i = 0; i < kListsAtOnce; ++i) lists.push_back(programs.start({"list"}));
    for (const pid_t list : lists) wait_for(list);
    peak.values.push_back(static_cast<double>(memory_of(programs.daemon(), "VmHWM")) / 1000);
    enqueue.values.push_back(milliseconds([&] { programs.run(enqueue_words(files + "/*.mrc")); }));
  }
  rows.insert(rows.end(), {page, all, brief, enqueue, resident, bytes, peak});
}

// With the programs and in this process: the same queue, alone and beside what has ended.
void measure_ended(const std::string& folder, std::vector<Row>& rows) {
  Row tick{"tick, nothing changed", "ms"}, page{"margay list --limit 1000", "ms"},
      all{"margay list", "ms"}, brief{"margay status", "ms"}, memory{"daemon, at rest", "MB"};
  for (const int ended : {0, kEnded}) {
    const std::string state = folder + "-" + std::to_string(ended);
    std::ofstream(state + ".yaml") << "engine: /bin/true\njob: /bin/true\n";
    const scheduler::Config config = config_in(state);
    {
      db::Database database(config.database());
      scheduler::claim_jobs(config.jobs(), database.instance());
      add_template(database);
      add_items(database, 0, ended, db::ItemState::kDone);
      add_items(database, ended, kBeside);
      const scheduler::SystemClock clock;
      bench::StillCluster cluster;
      scheduler::Daemon daemon(config, database, cluster, clock);
      bench::occupy_slots(database, cluster, config.local.slots);
      daemon.tick();
      tick.values.push_back(median(21, [&] { daemon.tick(); }));
      database.connection().execute("DELETE FROM attempts");
      database.connection().execute("DELETE FROM items WHERE state = 'ACTIVE'");
    }
    const Programs programs(state);
    std::this_thread::sleep_for(std::chrono::seconds(3));
    memory.values.push_back(static_cast<double>(memory_of(programs.daemon(), "VmRSS")) / 1000);
    brief.values.push_back(median(5, [&] { programs.run({"status"}); }));
    page.values.push_back(median(5, [&] { programs.run({"list", "--limit", "1000"}); }));
    all.values.push_back(median(3, [&] { programs.run({"list"}); }));
  }
  rows.insert(rows.end(), {tick, page, all, brief, memory});
}

void print_value(double value) { std::printf(value < 10 ? " %.1f |" : " %.0f |", value); }

void print_ended(const std::vector<Row>& rows) {
  std::printf(
      "\n| | %d waiting items | and %d that have ended | grows |\n| --- | --- | --- | --- |\n",
      kBeside, kEnded);
  for (const Row& row : rows) {
    std::printf("| %s, %s |", row.name.c_str(), row.unit.c_str());
    for (const double value : row.values) print_value(value);
    std::printf(" x %.1f |\n", row.values[1] / row.values[0]);
  }
}

void print(const std::vector<Row>& rows) {
  std::printf(
      "| | 1,000 waiting items | 10,000 | 100,000 | grows |\n| --- | --- | --- | --- | --- |\n");
  for (const Row& row : rows) {
    std::printf("| %s, %s |", row.name.c_str(), row.unit.c_str());
    for (const double value : row.values) print_value(value);
    if (row.values[0] > 0) {
      std::printf(" x %.1f, x %.1f |\n", row.values[1] / row.values[0],
                  row.values[2] / row.values[0]);
    } else {
      std::printf(" |\n");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = (argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path()) / "queue-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  int exit_code = 0;
  try {
    std::vector<Row> rows;
    measure_ticks(folder + "/tick", rows);
    measure_programs(folder + "/run", rows);
    print(rows);
    std::vector<Row> ended;
    measure_ended(folder + "/ended", ended);
    print_ended(ended);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "queue_bench: %s\n", error.what());
    exit_code = 1;
  }
  fs::remove_all(folder);
  return exit_code;
}
