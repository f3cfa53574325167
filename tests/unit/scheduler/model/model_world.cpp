#include "tests/unit/scheduler/model/model_world.h"

#include <filesystem>
#include <iterator>

#include "base/sha256.h"
#include "db/attempts.h"
#include "db/items.h"
#include "db/results.h"
#include "scheduler/crash_point.h"
#include "scheduler/errors.h"
#include "scheduler/files/file_io.h"
#include "scheduler/files/jobs_owner.h"

namespace tests {
namespace {

using db::AttemptState;
using db::ItemState;
using std::chrono::milliseconds;

constexpr int kStormSteps = 120;
constexpr int64_t kCalmMs = 12 * 3'600'000;  // within which everything must have ended

const scheduler::Caller kOperator{.uid = 0, .name = "root", .privileged = true};
const scheduler::Caller kUser{.uid = 1000, .name = "ann"};

bool has_ended(ItemState state) {
  return state == ItemState::kDone || state == ItemState::kFailed ||
         state == ItemState::kCancelled || state == ItemState::kQuarantined;
}

// In memory where there is such a place: thousands of databases are made.
std::string scratch_place() {
  const char* memory = "/dev/shm";
  std::error_code ignored;
  return std::filesystem::is_directory(memory, ignored)
             ? memory
             : std::filesystem::temp_directory_path().string();
}

}  // namespace

ModelWorld::ModelWorld(uint64_t seed) : random_(seed), folder_(scratch_place()) {
  const bool accounting = random_.chance(500);
  cluster_ = std::make_unique<ModelCluster>(seed + 1, random_.chance(500) ? 120 : 30, accounting);
  configure();
  open();
  commands_->add_template(kUser,
                          {.name = "ribosome",
                           .volume = scheduler::file_facts(folder_.write("volume.mrc", "volume")),
                           .volume_sha256 = base::sha256_of_text("volume"),
                           .search_yaml = "optics_group: {pixel_size: 1.0, voltage: 300.0}\n"
                                          "orientation_search_config: {psi_step: 3.0}\n"});
  for (int64_t i = random_.between(1, 4); i > 0; --i) enqueue();
}

void ModelWorld::configure() {
  config_.state = folder_.file("state");
  config_.engine = "/opt/margay-engine";
  config_.templates = folder_.path();
  config_.cluster = scheduler::ClusterKind::kSlurm;
  config_.policy.widths = scheduler::WidthsBy::kFixed;
  // Several nodes: submitted held, and released when the id is stored.
  config_.slurm.shape = random_.chance(400) ? scheduler::Shape::kNodes : scheduler::Shape::kGpu;
  if (random_.chance(500)) config_.slurm.urgent_shape = scheduler::Shape::kNodes;
  config_.slurm.max_jobs = static_cast<int>(random_.between(1, 4));
  config_.intervals.vanish_pending = milliseconds{60'000};
  config_.intervals.vanish_running = milliseconds{120'000};
  config_.intervals.retry = milliseconds{20'000};
  config_.intervals.retry_longest = milliseconds{300'000};
  for (const char* name : {"gpu.sbatch", "nodes.sbatch"}) folder_.write(name, "#!/bin/bash\n");
  std::filesystem::create_directories(config_.jobs());
}

// Half of the crashes come at a point that was chosen before, and stays so until it is reached, so
// that rare points have their turn.
void ModelWorld::arm() {
  if (crash_of_1000_ == 0 || armed_left_ > 0) return;
  armed_.clear();
  if (!random_.chance(500)) return;
  const auto& names = scheduler::crash_point_names();
  armed_ = names[static_cast<size_t>(random_.between(0, std::ssize(names) - 1))];
  armed_left_ = static_cast<int>(random_.between(1, 3));
}

scheduler::CrashHook ModelWorld::crash_hook() {
  return [this](const std::string& point) {
    const bool armed = point == armed_ && crash_of_1000_ > 0 && --armed_left_ == 0;
    if (!armed && !random_.chance(crash_of_1000_)) return;
    note("CRASH at " + point);
    crashes_.insert(point);
    throw Crash{};
  };
}

// As after kill -9: the database and the daemon anew, files and cluster as they were.
void ModelWorld::open() {
  arm();
  daemon_.reset();
  commands_.reset();
  database_.reset();
  database_ = std::make_unique<db::Database>(config_.database());
  scheduler::claim_jobs(config_.jobs(), database_->instance());
  commands_ = std::make_unique<scheduler::Commands>(
      *database_, clock_, scheduler::CommandsOptions{.crash = crash_hook(), .plan = [this] {
                                                       return daemon_->last_plan();
                                                     }});
  daemon_ = std::make_unique<scheduler::Daemon>(
      config_, *database_, *cluster_, clock_,
      scheduler::DaemonOptions{.crash = crash_hook(),
                               .log = [this](const std::string& line) { note(line); },
                               .free_bytes = [](const std::string&) { return int64_t{1} << 40; },
                               .file_threads = {.timeout = std::chrono::minutes(2)}});
}

void ModelWorld::note(const std::string& line) {
  log_.push_back(std::to_string(passed_ms_ / 1000) + " s: " + line);
}

void ModelWorld::fail(const std::string& what) {
  if (!problem_.empty()) return;
  problem_ = what;
  note("VIOLATED: " + what);
}

void ModelWorld::enqueue() {
  const std::string name = "m" + std::to_string(++micrographs_) + ".mrc";
  const std::string path = folder_.write(name, "micrograph " + name);
  const db::Item item = commands_->enqueue(
      kUser, {.micrograph = scheduler::file_facts(path),
              .template_name = "ribosome",
              .priority = random_.chance(500) ? db::Priority::kNormal : db::Priority::kLow,
              .ctf = {.defocus_u = 10000, .defocus_v = 9000}});
  items_.insert(item.id);
}

void ModelWorld::act(int64_t id) {
  switch (random_.between(0, 6)) {
    case 0:
      if (!has_ended(db::ItemStore(*database_).find(id).value().state)) {
        cancelled_by_user_.insert(id);
      }
      commands_->cancel(kUser, id);
      note("user cancels item " + std::to_string(id));
      break;
    case 1:
      commands_->promote(kUser, id, db::Priority::kLow);
      break;
    case 2:
      commands_->hold(kUser, id);
      note("user holds item " + std::to_string(id));
      break;
    case 3:
      commands_->release(kUser, id);
      break;
    case 4:
    case 5:  // a running one may be stopped for a wider job
      commands_->promote(kUser, id, db::Priority::kUrgent);
      break;
    default:
      commands_->retry(kUser, id,
                       {.micrograph = scheduler::file_facts(
                            db::ItemStore(*database_).find(id).value().micrograph_path)});
      note("user retries item " + std::to_string(id));
      break;
  }
}

void ModelWorld::user_acts() {
  if (!random_.chance(80)) return;
  const int64_t id = *std::next(items_.begin(), random_.between(0, std::ssize(items_) - 1));
  try {
    act(id);
  } catch (const scheduler::Conflict&) {
    // The item's state forbids it: said to the user.
  }
}

// The machine's clock was wrong and is set.
void ModelWorld::jump_clock() {
  if (!random_.chance(4)) return;
  const int64_t by = random_.between(-1'800'000, 1'800'000);
  clock_.set_by(milliseconds{by});
  note("the clock jumps by " + std::to_string(by / 1000) + " s");
}

void ModelWorld::pass(int64_t ms) {
  passed_ms_ += ms;
  clock_.pass(milliseconds{ms});
  cluster_->pass(ms);
  note_finished();
}

// False when the process ended in it.
bool ModelWorld::survives(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const Crash&) {
  }
  // Nobody may notice for a while.
  if (random_.chance(200)) pass(random_.between(10'000, 600'000));
  open();
  return false;
}

void ModelWorld::step(int64_t ms) {
  pass(ms);
  survives([this] {
    while (daemon_->read_micrographs()) {
    }
    daemon_->tick();
  });
  if (!cluster_->violation().empty()) fail(cluster_->violation());
}

void ModelWorld::fault_free() {
  cluster_->faults = {};
  cluster_->clear_faults();
  crash_of_1000_ = 0;
  for (const int64_t id : items_) {
    try {
      commands_->release(kUser, id);
    } catch (const scheduler::Conflict&) {
      // Not held.
    }
  }
  // It paused them if it ended again and again.
  commands_->resume(kOperator);
  note("the faults stop");
}

bool ModelWorld::all_ended() {
  for (const int64_t id : items_) {
    const auto item = db::ItemStore(*database_).find(id);
    if (item && !has_ended(item->state)) return false;
  }
  return db::AttemptStore(*database_).open().empty() && cluster_->idle();
}

std::string ModelWorld::run() {
  // Each seed has some kinds of faults, at its own rates.
  const auto rate = [&](int most) {
    return random_.chance(500) ? static_cast<int>(random_.between(1, most)) : 0;
  };
  cluster_->faults = {.lose_answer = rate(300),
                      .lose_request = rate(300),
                      .late = rate(300),
                      .twice = rate(200),
                      .broken = rate(200),
                      .refuse = rate(200),
                      .outage = rate(4),
                      .forget = rate(8),
                      .outsider = rate(3),
                      .node = rate(8),
                      .incomplete = rate(300),
                      .strange_word = rate(200),
                      .fail = rate(400),
                      .lost_release = rate(600)};
  crash_of_1000_ = rate(60);
  const bool jumps = random_.chance(300);
  for (int i = 0; i < kStormSteps && problem_.empty(); ++i) {
    if (random_.chance(10) && items_.size() < 6) survives([this] { enqueue(); });
    survives([this] { user_acts(); });
    if (jumps) jump_clock();
    step(random_.between(500, 15'000));
    if (i % 8 == 0) check_all();
  }
  fault_free();
  check_all();
  const int64_t until = passed_ms_ + kCalmMs;
  while (problem_.empty() && !all_ended() && passed_ms_ < until) {
    step(random_.between(5000, 20'000));
  }
  check_all();
  check_end();
  return problem_;
}

std::map<ItemState, int64_t> ModelWorld::ends() const { return db::ItemStore(*database_).counts(); }

std::map<AttemptState, int64_t> ModelWorld::attempts() const {
  std::map<AttemptState, int64_t> counts;
  for (const auto& [id, state] : ended_) ++counts[state];
  return counts;
}

// --- what must hold ----------------------------------------------------------------------------

// A search that is finished while its attempt is open is never done again.
void ModelWorld::note_finished() {
  const auto& runs = cluster_->runs();
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].finished || !finished_.insert(i).second) continue;
    const auto attempt = db::AttemptStore(*database_).find_by_token(runs[i].token);
    if (!attempt) {
      fail(runs[i].token + " ran, and nobody knows of it");
    } else if (db::is_open(attempt->state)) {
      must_be_done_.insert(attempt->token);
    }
  }
}

void ModelWorld::check_attempts(const db::Item& item) {
  int open = 0;
  int done = 0;
  for (const db::Attempt& attempt : db::AttemptStore(*database_).of_item(item.id)) {
    const bool is_open = db::is_open(attempt.state);
    open += is_open ? 1 : 0;
    done += attempt.state == AttemptState::kDone ? 1 : 0;
    if (is_open) continue;
    const auto [known, first] = ended_.emplace(attempt.id, attempt.state);
    if (known->second != attempt.state) fail(attempt.token + " ended twice, differently");
    if (must_be_done_.count(attempt.token) > 0 && attempt.state != AttemptState::kDone) {
      fail(attempt.token + " is " + to_string(attempt.state) + " although its search was finished");
    }
    if (first && attempt.state == AttemptState::kLost &&
        cluster_->has_living(attempt.job_id, attempt.token)) {
      fail(attempt.token + " is LOST although its job is alive");
    }
  }
  const std::string name = "item " + std::to_string(item.id);
  if (open > 1) fail(name + " has two open attempts");
  if (done > 1) fail(name + " has two accepted attempts");
  const bool active = item.state == ItemState::kActive;
  if (active != (open == 1))
    fail(name + " is " + to_string(item.state) + " with " + std::to_string(open) +
         " open attempts");
  if ((item.state == ItemState::kDone) != (done == 1)) {
    fail(name + " is " + to_string(item.state) + " with " + std::to_string(done) +
         " accepted attempts");
  }
}

void ModelWorld::check_item(const db::Item& item) {
  check_attempts(item);
  if (item.state == ItemState::kDone) done_.insert(item.id);
  if (item.state != ItemState::kDone && done_.count(item.id) > 0) {
    fail("item " + std::to_string(item.id) + " was DONE and is " + to_string(item.state));
  }
  const auto result = db::ResultStore(*database_).find(item.id);
  const std::string name = "item " + std::to_string(item.id);
  if (result.has_value() != (item.state == ItemState::kDone)) {
    fail(name + " is " + to_string(item.state) + (result ? " with a result" : " without a result"));
  }
  if (!result) return;
  const auto attempt = db::AttemptStore(*database_).find(result->attempt_id);
  int finished = 0;
  for (const ModelRun& run : cluster_->runs()) {
    if (attempt && run.token == attempt->token && run.finished) ++finished;
  }
  if (finished != 1) fail(name + ": its result is of a run that did not finish once");
}

void ModelWorld::check_all() {
  // An enqueue that crashed may have been stored.
  for (const db::Item& item : db::ItemStore(*database_).list({})) items_.insert(item.id);
  for (const int64_t id : items_) {
    const auto item = db::ItemStore(*database_).find(id);
    if (item) {
      check_item(*item);
    } else {
      fail("item " + std::to_string(id) + " is lost");
    }
  }
}

void ModelWorld::check_end() {
  for (const int64_t id : items_) {
    const auto item = db::ItemStore(*database_).find(id);
    if (!item) return;
    const std::string name = "item " + std::to_string(id);
    if (!has_ended(item->state)) {
      fail(name + " is " + to_string(item->state) +
           " long after the faults stopped: " + item->reason);
    }
    // Five ends in a row are more than an item's bad luck.
    const bool suspect =
        crashes_.size() >= 5 && item->reason.starts_with("margayd ended abnormally 5 times");
    const bool excused =
        cluster_->blamed().count(id) > 0 || cancelled_by_user_.count(id) > 0 || suspect;
    if (item->state != ItemState::kDone && !excused) {
      fail(name + " is " + to_string(item->state) +
           " although nothing spoke against it: " + item->reason);
    }
  }
  if (!cluster_->idle()) fail("jobs are left in the cluster");
}

}  // namespace tests
