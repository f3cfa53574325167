#include "scheduler/cli/items/wait.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <thread>

#include "scheduler/cli/items/items.h"
#include "scheduler/cli/items/progress.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// As many ids as fit into one request's address.
constexpr size_t kIdsAsked = 500;
constexpr std::chrono::seconds kLineEvery{60};
constexpr size_t kMostBars = 16;

std::string ids_text(const std::vector<int64_t>& ids) {
  std::string text;
  for (const int64_t id : ids) {
    if (!text.empty()) text += ',';
    text += std::to_string(id);
  }
  return text;
}

std::string file_name(const json& item) {
  return std::filesystem::path(text_of(item, "micrograph")).filename().string();
}

class Waiter {
 public:
  Waiter(const Context& context, const WaitOptions& options)
      : context_(context), options_(options), begin_(Clock::now()) {}

  Exit run() {
    choose_items();
    for (;;) {
      look_or_wait_for_daemon();
      erase_bars();
      report_ended();
      report_removed();
      if (waiting_.empty()) return finish(failed_ ? Exit::kFailed : Exit::kOk);
      if (options_.timeout && Clock::now() - begin_ >= *options_.timeout) {
        return finish(Exit::kTimedOut);
      }
      show_running();
      std::this_thread::sleep_for(options_.poll);
    }
  }

 private:
  void choose_items() {
    if (options_.chosen) {
      waiting_.insert(options_.items.begin(), options_.items.end());
      check_items();
      return;
    }
    for (const json& item : fetch_items(context_, "state=QUEUED,ACTIVE", 0)) {
      if (options_.all || item.at("owner_uid").get<int64_t>() == ::geteuid()) {
        waiting_.insert(item.at("id").get<int64_t>());
      }
    }
  }

  void check_items() const {
    std::set<int64_t> unknown = waiting_;
    std::vector<int64_t> page;
    for (const int64_t id : waiting_) {
      page.push_back(id);
      if (page.size() < kIdsAsked && id != *waiting_.rbegin()) continue;
      for (const json& item : fetch_items(context_, "ids=" + ids_text(page), 0)) {
        unknown.erase(item.at("id").get<int64_t>());
      }
      page.clear();
    }
    if (unknown.empty()) return;
    throw Failure(Exit::kNotFound, "no item " + std::to_string(*unknown.begin()));
  }

  void look_or_wait_for_daemon() {
    try {
      look();
      answered_ = Clock::now();
    } catch (const Failure& failure) {
      if (!failure.passes() || Clock::now() - answered_ > options_.daemon_timeout) throw;
      erase_bars();
      if (!context_.wants_json() && !silent_) context_.complain("waiting for the daemon to answer");
    }
    silent_ = Clock::now() - answered_ > options_.poll / 2;
  }

  // Asks for all running items and for one page of the others in turn, so that a poll stays small
  // however many there are.
  void look() {
    if (waiting_.empty()) return;
    std::vector<int64_t> ids;
    for (const auto& [id, item] : active_) ids.push_back(id);
    auto next = waiting_.upper_bound(asked_up_to_);
    if (next == waiting_.end()) next = waiting_.begin();
    for (; next != waiting_.end() && ids.size() < kIdsAsked; ++next) {
      ids.push_back(*next);
      asked_up_to_ = *next;
    }
    const std::vector<json> running = fetch_items(context_, "state=ACTIVE&progress=1", 0);
    const std::vector<json> asked = fetch_items(context_, "ids=" + ids_text(ids), 0);
    active_.clear();
    held_ = 0;
    for (const json& item : running) {
      const auto id = item.at("id").get<int64_t>();
      if (waiting_.count(id) > 0) active_[id] = item;
    }
    std::set<int64_t> removed(ids.begin(), ids.end());
    for (const json& item : asked) {
      removed.erase(item.at("id").get<int64_t>());
      take(item);
    }
    for (const int64_t id : removed) {
      active_.erase(id);
      if (waiting_.erase(id) > 0) removed_.push_back(id);
    }
  }

  void take(const json& item) {
    const auto id = item.at("id").get<int64_t>();
    const std::string state = item.at("state");
    if (state == "HELD") ++held_;
    if (!has_ended(state)) return;
    active_.erase(id);
    if (waiting_.erase(id) > 0) ended_.push_back(item);
  }

  // How a removed one has ended, nobody knows any more.
  void report_removed() {
    for (; reported_removed_ < removed_.size(); ++reported_removed_) {
      failed_ = true;
      context_.complain("item " + std::to_string(removed_[reported_removed_]) +
                        " was removed while it was waited for");
    }
  }

  void report_ended() {
    for (; reported_ < ended_.size(); ++reported_) {
      const json& item = ended_[reported_];
      const std::string state = item.at("state");
      failed_ = failed_ || state != "DONE";
      if (context_.wants_json()) continue;
      context_.out() << "item " << item.at("id").get<int64_t>() << "  "
                     << context_.styled(state, state_style(state)) << "  "
                     << printable(file_name(item));
      if (const std::string note = note_of(item); !note.empty()) {
        context_.out() << ": " << printable(note);
      }
      context_.out() << "\n";
    }
  }

  std::vector<ProgressRow> running() const {
    std::vector<ProgressRow> rows;
    for (const auto& [id, item] : active_) {
      if (rows.size() == kMostBars) break;
      rows.push_back(
          {.item = id, .name = printable(file_name(item)), .progress = progress_of(item)});
    }
    return rows;
  }

  void show_running() {
    if (context_.wants_json()) return;
    if (context_.screen().terminal) {
      draw_bars();
    } else if (Clock::now() >= next_line_) {
      next_line_ = Clock::now() + kLineEvery;
      for (const std::string& line : progress_lines(running(), 0)) context_.out() << line << "\n";
    }
    context_.out().flush();
  }

  void draw_bars() {
    std::vector<std::string> lines = progress_lines(running(), context_.screen().columns - 1);
    const size_t others = waiting_.size() - lines.size();
    if (others > 0) {
      std::string rest = std::to_string(others) + " waiting";
      if (held_ > 0) rest += ", " + std::to_string(held_) + " of them held (margay release)";
      lines.push_back(context_.styled(rest, style::kDim));
    }
    for (const std::string& line : lines) context_.out() << line << "\n";
    drawn_ = static_cast<int>(lines.size());
  }

  void erase_bars() {
    if (drawn_ > 0) context_.out() << "\x1b[" << drawn_ << "F\x1b[J";
    drawn_ = 0;
  }

  Exit finish(Exit exit) {
    if (context_.wants_json()) {
      const std::vector<int64_t> left(waiting_.begin(), waiting_.end());
      context_.print(json{
          {"ended", ended_}, {"waiting", left}, {"removed", removed_}, {"outcome", kind_of(exit)}});
    } else if (exit == Exit::kTimedOut) {
      context_.complain(std::string("timed out; ") + std::to_string(waiting_.size()) +
                        (waiting_.size() == 1 ? " item is" : " items are") + " still unfinished");
    } else if (ended_.empty() && removed_.empty()) {
      context_.out() << "nothing to wait for\n";
    } else if (ended_.size() > 1) {
      const auto done = std::count_if(ended_.begin(), ended_.end(),
                                      [](const json& item) { return item.at("state") == "DONE"; });
      context_.out() << done << " of " << ended_.size() << " done\n";
    }
    return exit;
  }

  const Context& context_;
  const WaitOptions& options_;
  Clock::time_point begin_;
  Clock::time_point answered_ = begin_;
  bool silent_ = false;
  Clock::time_point next_line_{};
  std::set<int64_t> waiting_;
  std::map<int64_t, json> active_;
  std::vector<json> ended_;
  size_t reported_ = 0;
  std::vector<int64_t> removed_;
  size_t reported_removed_ = 0;
  int64_t asked_up_to_ = 0;
  int64_t held_ = 0;
  int drawn_ = 0;
  bool failed_ = false;
};

}  // namespace

Exit wait(const Context& context, const WaitOptions& options) {
  return Waiter(context, options).run();
}

}  // namespace scheduler::cli
