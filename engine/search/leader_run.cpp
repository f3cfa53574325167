// Implements run_search of search.h: progress, merges, checkpoints and stopping.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/error.h"
#include "engine/io/seconds_since.h"
#include "engine/ranks/exchange.h"
#include "engine/ranks/leader.h"
#include "engine/search/batches.h"
#include "engine/search/search.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

// The state of one run of a search, at rank 0.
class Run {
 public:
  Run(const Search& search, Backend& backend, const RunOptions& options, Leader& leader)
      : search_(search), backend_(backend), options_(options), leader_(leader) {
    state_.backend = backend.name();
    state_.fft = backend.fft();
    state_.precision = backend.precision();
    state_.numerics_version = kNumericsVersion;
    state_.identity = search.identity;
    state_.finished.assign(search.space.units.size(), false);
    state_.accumulators.height = search.problem.valid_height();
    state_.accumulators.width = search.problem.valid_width();
  }

  RunResult run(const std::atomic<bool>& stop) {
    resume();
    start_ = last_merge_ = last_report_ = last_best_ = Clock::now();
    std::vector<int32_t> costs;
    for (const Unit& unit : search_.space.units) {
      costs.push_back(static_cast<int32_t>(search_.space.correlations(unit)));
    }
    leader_.begin(std::move(costs), state_.finished, backend_.batch(),
                  numerics_signature(backend_));
    resumed_ = merged_;
    report_start();
    try {
      leader_.ask(0);
      while (!over_) {
        look_after(stop);
        if (const auto order = leader_.next(kLookEvery)) dispatch(*order, stop);
      }
      finish();
      result_.seconds = seconds_since(start_);
    } catch (const Error& e) {
      const bool of_device =
          e.code() == ExitCode::kDeviceFault || e.code() == ExitCode::kDeviceMemory;
      throw Error(e.code(), e.what() + (of_device ? resume_hint() : ""));
    }
    return std::move(result_);
  }

 private:
  static constexpr std::chrono::milliseconds kLookEvery{100};

  // What is due between batches, and while other ranks are waited for.
  void look_after(const std::atomic<bool>& stop) {
    report_if_due();
    if (stop && !std::exchange(stop_wanted_, true)) leader_.request_merge(true);
    if (merge_is_due()) {
      last_merge_ = Clock::now();
      merge_wanted_ = true;
      leader_.request_merge(false);
    }
  }

  void dispatch(const Order& order, const std::atomic<bool>& stop) {
    switch (order.kind) {
      case OrderKind::kWork:
        work(order.chunk, stop);
        break;
      case OrderKind::kMerge:
        merge_round(order);
        break;
      case OrderKind::kMerged:
        leader_.ask(0);
        break;
      case OrderKind::kYield:
        break;
      case OrderKind::kEnd:
        over_ = true;
        break;
    }
  }

  void work(const std::vector<UnitRange>& chunk, const std::atomic<bool>& stop) {
    const auto wants_more = [&] {
      worked_ = true;
      look_after(stop);
      return !stop_wanted_ && !merge_wanted_ && !leader_.should_yield();
    };
    const ChunkDone done = correlate_chunk(backend_, search_.space.units, search_.problem.planes(),
                                           chunk, leader_.watchdog(), wants_more);
    own_ += done.correlations;
    leader_.ask(done.units);
  }

  // A fault of the device that shows here ends the search.
  void merge_round(const Order& order) {
    Accumulators statistics = take_statistics(backend_, leader_.watchdog());
    const int ranks = static_cast<int>(order.participants.size());
    const std::string& extreme_pixel = search_.problem.extreme_pixel;
    check_range(statistics, ranks, extreme_pixel);
    try {
      reduce(leader_.communicator_for(order), statistics);
    } catch (const CommunicatorLost& e) {
      leader_.communicator_lost(e.what());
      return;
    }
    if (!leader_.merged(order.round)) return;
    if (state_.accumulators.best.empty()) {
      state_.accumulators = std::move(statistics);
    } else {
      merge(state_.accumulators, statistics);
    }
    check_range(state_.accumulators, 1, extreme_pixel);
    state_.finished = leader_.finished();
    if (leader_.over()) {
      // The others end when this is safe: where one has ended a launcher may end all of them.
      if (!leader_.complete() && !options_.checkpoint.empty()) write();
      leader_.end();
      return;
    }
    forget_statistics(backend_, leader_.watchdog(), state_.accumulators.height,
                      state_.accumulators.width);
    own_ = 0;
    worked_ = false;
    merged_ = leader_.done();
    if (std::exchange(merge_wanted_, false) && !options_.checkpoint.empty()) {
      write_checkpoint_or_note();
    }
  }

  // The end of a fault's message: whether the search can be resumed.
  std::string resume_hint() const {
    if (kept_.empty()) return ". Nothing of this search is saved: no checkpoint was written yet";
    return ". Resume from the last checkpoint with --resume '" + kept_ + "'";
  }

  void resume() {
    if (options_.resume.empty()) return;
    Checkpoint found;
    try {
      const auto busy = leader_.watchdog().busy(Activity::kFiles);
      found = read_checkpoint(options_.resume);
      check_same_search(options_.resume, found, state_);
    } catch (const DamagedCheckpoint& damage) {
      set_aside(damage.what());
      return;
    }
    kept_ = options_.resume;
    state_.accumulators = std::move(found.accumulators);
    state_.finished = std::move(found.finished);
    for (size_t i = 0; i < state_.finished.size(); ++i) {
      if (!state_.finished[i]) continue;
      merged_ += search_.space.correlations(search_.space.units[i]);
      ++result_.resumed_units;
    }
    say("resumed from '" + options_.resume + "': " + std::to_string(result_.resumed_units) +
        " of " + std::to_string(state_.finished.size()) + " units were finished");
  }

  void set_aside(const std::string& why) {
    const std::string aside = options_.resume + ".damaged";
    std::error_code error;
    std::filesystem::rename(options_.resume, aside, error);
    say(why +
        (error ? "; it could not be set aside (" + error.message() + ")"
               : "; set aside as '" + aside + "'") +
        ". The search starts from the beginning");
  }

  // From here on the files beside the results are those of an unfinished search.
  void report_start() const {
    if (!options_.report) return;
    Progress first = progress();
    first.state = "starting";
    options_.report(first);
  }

  void report_if_due() {
    if (seconds_since(last_report_) * 1e3 < static_cast<double>(options_.report_every.count())) {
      return;
    }
    // Looking at every pixel costs as much as a few correlations, so seldom.
    constexpr double kBestEvery = 10.0;
    if (seconds_since(last_best_) > kBestEvery) {
      const auto busy = leader_.watchdog().busy(Activity::kDevice);
      result_.best_z = std::max({best_z(state_.accumulators, merged_), leader_.best_z(),
                                 own_best_z(backend_, own_, own_ == leader_.done())});
      last_best_ = Clock::now();
    }
    last_report_ = Clock::now();
    if (!options_.report) return;
    const auto busy = leader_.watchdog().busy(Activity::kFiles);
    options_.report(progress());
  }

  Progress progress() const {
    Progress p;
    p.done = leader_.done();
    p.total = search_.space.correlations();
    const double elapsed = seconds_since(start_);
    p.rate = elapsed > 0 ? static_cast<double>(p.done - resumed_) / elapsed : 0;
    p.eta_seconds = p.rate > 0 ? static_cast<double>(p.total - p.done) / p.rate : 0;
    p.best_z = result_.best_z;
    return p;
  }

  bool merge_is_due() const {
    // Between two merges something must have been done, however often they are due.
    const bool anything = worked_ || leader_.done() > merged_;
    return anything && !merge_wanted_ &&
           (!options_.checkpoint.empty() || leader_.can_lose_ranks()) &&
           seconds_since(last_merge_) * 1e3 >=
               static_cast<double>(options_.checkpoint_every.count());
  }

  void write_checkpoint_or_note() {
    try {
      write();
    } catch (const Error& e) {
      // The search is worth more than one checkpoint; the next one may succeed.
      say(std::string("no checkpoint written: ") + e.what());
    }
  }

  void write() {
    const auto busy = leader_.watchdog().busy(Activity::kFiles);
    write_checkpoint(options_.checkpoint, state_);
    kept_ = options_.checkpoint;
  }

  void finish() {
    result_.finished_units = std::count(state_.finished.begin(), state_.finished.end(), true);
    result_.stopped = !leader_.complete();
    result_.best_z = best_z(state_.accumulators, leader_.done());
    result_.progress = progress();
    if (!result_.stopped) result_.accumulators = std::move(state_.accumulators);
  }

  void say(const std::string& sentence) const {
    if (options_.message) options_.message(sentence);
  }

  const Search& search_;
  Backend& backend_;
  const RunOptions& options_;
  Leader& leader_;
  Checkpoint state_;  // what is merged
  RunResult result_;
  int64_t resumed_ = 0;  // correlations by earlier runs
  int64_t own_ = 0;      // by this rank since the last merge
  int64_t merged_ = 0;   // correlations whose statistics are merged
  std::string kept_;     // the newest checkpoint
  bool worked_ = false;  // since the last merge
  bool stop_wanted_ = false;
  bool merge_wanted_ = false;
  bool over_ = false;
  Clock::time_point start_, last_merge_, last_report_, last_best_;
};

}  // namespace

RunResult run_search(const Search& search, Backend& backend, const RunOptions& options,
                     const std::atomic<bool>& stop) {
  Leader leader({});
  return run_search(search, backend, options, stop, leader);
}

RunResult run_search(const Search& search, Backend& backend, const RunOptions& options,
                     const std::atomic<bool>& stop, Leader& leader) {
  return Run(search, backend, options, leader).run(stop);
}

}  // namespace engine
