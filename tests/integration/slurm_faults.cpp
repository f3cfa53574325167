#include "tests/integration/slurm_faults.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <map>
#include <thread>

#include "scheduler/crash_point.h"
#include "tests/fakes/fake_slurmrestd.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAway{400};
constexpr const char* kNoFault = "NoFault";

bool is_about(const std::string& point, const std::string& what) {
  return point.find(what) != std::string::npos;
}

// What must go wrong so that the point is reached at all.
std::string primer_of(const std::string& point) {
  if (is_about(point, "adopt")) return "submit 1: drop-answer\n";
  if (is_about(point, "never-started")) return "submit 1: lose-request\n";
  return "";
}

bool cancels_an_item(const std::string& point) { return is_about(point, "cancel"); }
bool promotes_an_item(const std::string& point) { return is_about(point, "-stop"); }
bool has_third(const std::string& point) {
  return cancels_an_item(point) || promotes_an_item(point);
}

// On one machine it only waits to be asked for a checkpoint.
constexpr const char* kStopsUnlessWide = R"(if [ "$SLURM_JOB_NUM_NODES" = 1 ]; then
  trap 'echo units > "$folder/checkpoint.mgc"; exit 85' USR1
  echo "listens $token" >> "$home/effects"
  while :; do sleep 0.02 || :; done
fi)";

class Site {
 public:
  Site(const std::string& point, const SlurmFault& fault)
      : fake_(options_of(fault)), queue_(queue_options(point)) {
    // A job that is to be killed is so in the middle of its search.
    if (fault.kills_jobs) queue_.let_search_do("sleep 1");
    queue_.let_search_do(promotes_an_item(point) ? kStopsUnlessWide : "sleep 600", 3);
  }

  // Searches that were killed never finish: nobody is to wait for them.
  ~Site() {
    if (queue_.daemon_runs()) queue_.kill_daemon(SIGKILL);
  }

  FakeSlurmrestd& fake() { return fake_; }
  QueueAtWork& queue() { return queue_; }

  void rotate_token() {
    const std::string token = fake_token("alice", std::time(nullptr) + 3600, 1);
    folder_.write("accepted", token);
    std::this_thread::sleep_for(kAway);
    folder_.write("token", token);
  }

 private:
  FakeSlurmrestdOptions options_of(const SlurmFault& fault) {
    const std::string token = fake_token("alice", std::time(nullptr) + 3600);
    folder_.write("accepted", token);
    folder_.write("token", token);
    FakeSlurmrestdOptions options{.release = fault.release, .token_file = folder_ / "accepted"};
    options.cluster.folder = folder_ / "cluster";
    options.cluster.kill_wait = milliseconds(300);
    return options;
  }

  QueueOptions queue_options(const std::string& point) {
    const std::string shape = is_about(point, "release") ? "nodes" : "cpu";
    return {.site = "cluster: slurm\ntick: 20ms\nslurm:\n  url: " + fake_.url() +
                    "\n  user: alice\n  token_file: " + (folder_ / "token") +
                    "\n  connect_timeout: 500ms\n  timeout: 400ms\n  poll: 30ms\n"
                    "  requests_per_minute: 100000\n  shape: " +
                    shape + (promotes_an_item(point) ? "\n  urgent_shape: nodes" : "") +
                    "\nintervals: {resolve: 300ms, vanish_pending: 1500ms, vanish_running: 1500ms, "
                    "retry: 50ms, retry_longest: 200ms}\npolicy: {widths: fixed}\n"};
  }

  ScratchFolder folder_;
  FakeSlurmrestd fake_;
  QueueAtWork queue_;
};

// What a user does, who does not care for crashes.
void ask_for_everything(QueueAtWork& queue, const std::string& point, bool until_done) {
  std::vector<std::vector<std::string>> commands = {
      queue.enqueue_command(queue.make_micrograph("first.mrc")),
      queue.enqueue_command(queue.make_micrograph("second.mrc"))};
  if (has_third(point)) {
    commands.push_back(queue.enqueue_command(queue.make_micrograph("third.mrc")));
  }
  for (const auto& command : commands) {
    if (until_done) {
      queue.margay_until_done(command);
    } else {
      queue.margay(command);
    }
  }
}

std::vector<std::string> change_of_third(const std::string& point) {
  if (cancels_an_item(point)) return {"cancel", "3"};
  return {"promote", "3", "--priority", "urgent"};
}

// Only what runs has to be stopped by the cluster.
void change_third_when_it_runs(QueueAtWork& queue, const std::string& point) {
  const std::string said = promotes_an_item(point) ? "listens" : "started";
  ASSERT_TRUE(QueueAtWork::becomes_true([&] { return queue.effects(said).contains(3); }));
  queue.margay(change_of_third(point));
}

// Its second job is wide and has the first one's checkpoint.
void expect_third_went_on_wide(QueueAtWork& queue, bool undisturbed) {
  const std::string shown = queue.margay({"show", "3"}).output;
  EXPECT_NE(shown.find("4 nodes (16 GPUs)"), std::string::npos) << shown;
  if (!undisturbed) return;
  EXPECT_EQ(queue.effects("started").at(3), 2) << shown;
  EXPECT_EQ(queue.effects("resumed"), (std::map<int, int>{{3, 1}})) << shown;
}

void fail(Site& site, const SlurmFault& fault) {
  if (fault.rotates_token) site.rotate_token();
  if (fault.takes_slurmrestd_away) {
    site.fake().go_away();
    std::this_thread::sleep_for(kAway);
    site.fake().come_back();
  }
}

void expect_everything_once(Site& site, const CrashAndFault& both) {
  QueueAtWork& queue = site.queue();
  std::map<int, std::string> states = {{1, "DONE"}, {2, "DONE"}};
  std::map<int, int> finished = {{1, 1}, {2, 1}};
  if (cancels_an_item(both.point)) states[3] = "CANCELLED";
  if (promotes_an_item(both.point)) {
    states[3] = "DONE";
    finished[3] = 1;
  }
  const auto said = [&] {
    return queue.margay({"list"}).output + queue.margay({"show", "1"}).output +
           queue.margay({"status"}).output + ::testing::PrintToString(site.fake().log());
  };
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.item_states() == states; })) << said();
  // What comes late has come by then, and has been dealt with.
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return site.fake().quiet(); })) << said();
  EXPECT_EQ(queue.item_states(), states);
  EXPECT_EQ(queue.effects("finished"), finished) << said();
  if (promotes_an_item(both.point)) expect_third_went_on_wide(queue, both.fault.name == kNoFault);
  std::map<int, int> started = queue.effects("started");
  started.erase(3);
  if (both.fault.kills_jobs) {
    EXPECT_EQ(started.size(), 2u);
  } else {
    EXPECT_EQ(started, (std::map<int, int>{{1, 1}, {2, 1}})) << said();
  }
}

// The daemon's first life ends at the point, or when all is done.
bool first_life(Site& site, const CrashAndFault& both) {
  QueueAtWork& queue = site.queue();
  queue.start_daemon();
  queue.add_template();
  queue.kill_daemon(SIGTERM);
  site.fake().set_faults(primer_of(both.point) + both.fault.text);
  queue.start_daemon(both.point);
  ask_for_everything(queue, both.point, both.point.empty());
  fail(site, both.fault);
  if (has_third(both.point)) change_third_when_it_runs(queue, both.point);
  const auto is_over = [&] {
    return !queue.daemon_runs() || (queue.item_states().size() >= 2 && queue.all_ended());
  };
  EXPECT_TRUE(QueueAtWork::becomes_true(is_over)) << ::testing::PrintToString(site.fake().log());
  return !queue.daemon_runs();
}

// The first line of its text is found in what the fake did.
bool has_happened(const SlurmFault& fault, const std::vector<std::string>& log) {
  const std::string line = fault.text.substr(0, fault.text.find('\n'));
  return std::any_of(log.begin(), log.end(), [&](const std::string& entry) {
    return entry.find(line) != std::string::npos;
  });
}

void second_life(Site& site, const CrashAndFault& both) {
  QueueAtWork& queue = site.queue();
  if (!queue.daemon_runs()) queue.start_daemon();
  ask_for_everything(queue, both.point, true);
  if (has_third(both.point)) queue.margay_until_done(change_of_third(both.point));
  expect_everything_once(site, both);
  EXPECT_TRUE(has_happened(both.fault, site.fake().log())) << "the fault never happened";
}

std::vector<CrashAndFault> matrix_of(const std::vector<std::string>& points,
                                     const std::vector<SlurmFault>& faults) {
  std::vector<CrashAndFault> cases;
  for (const std::string& point : points) {
    for (const SlurmFault& fault : faults) cases.push_back({point, fault});
  }
  return cases;
}

}  // namespace

const std::vector<SlurmFault>& slurm_faults() {
  static const std::vector<SlurmFault> faults = {
      {"AnswerLost", "submit 1: drop-answer"},
      {"RequestLost", "submit 1: lose-request"},
      {"DelayedBeyondTheTimeout", "submit 1: delay 550ms"},
      {"DelayedBeyondTheGrace", "submit 1: delay 1500ms"},
      {"ControllerHung", "submit 1: hung 200ms"},
      {"ControllerHungAndJobLate", "submit 1: hung 100ms 2s"},
      {"ControllerDown", "any 1 for 600ms: controller-down"},
      {"Status500", "submit 1: status 500"},
      {"Status502AfterTheWork", "submit 1: status-after 502"},
      {"Status504", "submit 1: status 504"},
      {"Status408AfterTheWork", "submit 1: status-after 408"},
      {"ListingsFail", "every 3 list: status 502"},
      {"TokenRefusedForAWhile", "any 1 for 500ms: unauthorized"},
      {"AnswersCut", "submit 1: cut\nevery 2 list: cut\naccounting 1: cut"},
      {"StatesUnknown", "list 1-20: unknown-state"},
      {"RowsMissing", "list 1 for 700ms: rows-missing 1"},
      {"ListingsEmpty", "list 1 for 700ms: rows-missing"},
      {"ClockJumpsAhead", "start 1: clock 7200"},
      {"ClockJumpsBack", "start 1: clock -7200"},
      {"PartitionRefused", "submit 1-2: refuse-partition"},
      {"AccountingDown", "accounting 1-10: status 503\nsubmit 1: lose-request"},
      {"Purged", "every 3 list: purge"},
      {.name = "JobsForgotten", .text = "start 1 later 300ms: forget 60s", .kills_jobs = true},
      {.name = "JobRequeued", .text = "start 1 later 300ms: requeue", .kills_jobs = true},
      {.name = "NodeLost", .text = "start 1 later 300ms: kill-node", .kills_jobs = true},
      {.name = "TokenRotated", .rotates_token = true},
      {.name = "SlurmrestdAway", .takes_slurmrestd_away = true},
      {.name = "NewerSlurmHung", .text = "submit 1: hung 200ms", .release = "24.11"},
  };
  return faults;
}

void PrintTo(const CrashAndFault& both, std::ostream* out) {
  *out << (both.point.empty() ? "no crash" : both.point) << ", " << both.fault.name;
}

std::string name_of_case(const ::testing::TestParamInfo<CrashAndFault>& info) {
  std::string point = info.param.point.empty() ? "nocrash" : info.param.point;
  std::erase(point, '-');
  return point + "_" + info.param.fault.name;
}

std::vector<CrashAndFault> faults_alone() { return matrix_of({""}, slurm_faults()); }

std::vector<CrashAndFault> crashes_with_a_fault() {
  std::vector<CrashAndFault> cases;
  size_t turn = 0;
  for (const std::string& point : scheduler::crash_point_names()) {
    cases.push_back({point, slurm_faults()[turn++ % slurm_faults().size()]});
  }
  return cases;
}

std::vector<CrashAndFault> whole_matrix() {
  return matrix_of(scheduler::crash_point_names(), slurm_faults());
}

void expect_once_in_spite_of(const CrashAndFault& both) {
  Site site(both.point, both.fault);
  first_life(site, both);
  second_life(site, both);
}

void expect_reached(const std::string& point) {
  const CrashAndFault both{point, {.name = kNoFault}};
  Site site(point, both.fault);
  ASSERT_TRUE(first_life(site, both)) << point << " is never reached";
  EXPECT_EQ(site.queue().wait_for_daemon().signal, SIGABRT);
  second_life(site, both);
}

}  // namespace tests
