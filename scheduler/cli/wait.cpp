#include "scheduler/cli/wait.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <thread>

#include "scheduler/api/json_text.h"
#include "scheduler/cli/items.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// So many ids fit into one request's address.
constexpr size_t kIdsAsked = 500;
constexpr std::chrono::seconds kLineEvery{60};
constexpr int kMostBars = 16;

std::string ids_text(const std::vector<int64_t>& ids) {
  std::string text;
  for (const int64_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
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
      look();
      erase_bars();
      report_ended();
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
    if (!options_.items.empty()) {
      waiting_.insert(options_.items.begin(), options_.items.end());
      check_items();
      return;
    }
    for (const json& item : fetch_items(context_, "state=QUEUED,PLANNED,ACTIVE", 0)) {
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
    throw Failure(Exit::kNotFound, "there is no item " + std::to_string(*unknown.begin()));
  }

  // Those that were running, and of the others a page in turn: a poll stays small however many
  // there are.
  void look() {
    std::vector<int64_t> ids;
    for (const auto& [id, item] : active_) ids.push_back(id);
    auto next = waiting_.upper_bound(asked_up_to_);
    if (next == waiting_.end()) next = waiting_.begin();
    for (; next != waiting_.end() && ids.size() < kIdsAsked; ++next) {
      ids.push_back(*next);
      asked_up_to_ = *next;
    }
    active_.clear();
    held_ = 0;
    for (const json& item : fetch_items(context_, "progress=1&ids=" + ids_text(ids), 0)) take(item);
  }

  void take(const json& item) {
    const auto id = item.at("id").get<int64_t>();
    const std::string state = item.at("state");
    if (state == "HELD") ++held_;
    if (state == "ACTIVE") active_[id] = item;
    if (has_ended(state) && waiting_.erase(id) > 0) ended_.push_back(item);
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
      if (const std::string reason = text_of(item, "reason"); !reason.empty()) {
        context_.out() << ": " << printable(reason);
      }
      context_.out() << "\n";
    }
  }

  void show_running() {
    if (context_.wants_json()) return;
    if (context_.screen().terminal) {
      draw_bars();
    } else if (Clock::now() >= next_line_) {
      next_line_ = Clock::now() + kLineEvery;
      for (const auto& [id, item] : active_) {
        context_.out() << progress_line(id, file_name(item), progress_of(item), 0) << "\n";
      }
    }
    context_.out().flush();
  }

  void draw_bars() {
    std::vector<std::string> lines;
    for (const auto& [id, item] : active_) {
      if (lines.size() == kMostBars) break;
      lines.push_back(
          progress_line(id, file_name(item), progress_of(item), context_.screen().columns - 1));
    }
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
      context_.print(json{{"ended", ended_}, {"waiting", left}, {"outcome", kind_of(exit)}});
    } else if (exit == Exit::kTimedOut) {
      context_.complain(std::to_string(waiting_.size()) +
                        " item(s) have not ended; they go on, wait again when you like");
    } else if (ended_.empty()) {
      context_.out() << "nothing to wait for\n";
    }
    return exit;
  }

  const Context& context_;
  const WaitOptions& options_;
  Clock::time_point begin_;
  Clock::time_point next_line_{};
  std::set<int64_t> waiting_;
  std::map<int64_t, json> active_;
  std::vector<json> ended_;
  size_t reported_ = 0;
  int64_t asked_up_to_ = 0;
  int64_t held_ = 0;
  int drawn_ = 0;
  bool failed_ = false;
};

std::string bar(double fraction, int cells) {
  const int full = static_cast<int>(fraction * cells);
  std::string text;
  for (int i = 0; i < cells; ++i) text += i < full ? "█" : "░";
  return text;
}

}  // namespace

bool has_ended(const std::string& state) {
  return state == "DONE" || state == "FAILED" || state == "CANCELLED" || state == "QUARANTINED";
}

std::optional<Progress> progress_of(const json& item) {
  const auto found = item.find("progress");
  if (found == item.end() || !found->is_object()) return std::nullopt;
  Progress progress;
  progress.done = found->value("done", 0.0);
  progress.total = found->value("total", 0.0);
  progress.rate = found->value("rate", 0.0);
  progress.eta_seconds = found->value("eta_seconds", 0.0);
  progress.best_z = found->value("best_z", 0.0);
  progress.state = found->value("state", "");
  return progress;
}

std::string progress_line(int64_t item, const std::string& micrograph,
                          const std::optional<Progress>& progress, int columns) {
  const std::string head = "item " + std::to_string(item) + "  ";
  const std::string name = printable(micrograph);
  if (!progress || progress->total <= 0) {
    const std::string line = head + name + "  starting";
    return columns > 0 ? shorten(line, columns) : line;
  }
  const double fraction = std::clamp(progress->done / progress->total, 0.0, 1.0);
  std::string tail = "  " + fixed(100 * fraction, 1) + " %";
  if (progress->state == "running") {
    tail +=
        "  " + fixed(progress->rate, 0) + "/s  " + duration_text(progress->eta_seconds) + " left";
  } else {
    tail += "  " + progress->state;
  }
  if (progress->best_z > 0) tail += "  best z " + fixed(progress->best_z, 2);
  if (columns <= 0) return head + name + tail;
  const int room = columns - display_width(head) - display_width(tail) - 2;
  const int name_cells = std::clamp(room / 2, 8, std::max(8, display_width(name)));
  std::string shown = shorten(name, name_cells, Cut::kStart);
  const int bar_cells = std::min(40, room - display_width(shown));
  if (bar_cells < 5) return shorten(head + shown + tail, columns);
  return head + shown + "  " + bar(fraction, bar_cells) + tail;
}

Exit wait(const Context& context, const WaitOptions& options) {
  return Waiter(context, options).run();
}

}  // namespace scheduler::cli
