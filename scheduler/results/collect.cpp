// Implements housekeeper.h: `margay admin gc`.
#include <algorithm>
#include <map>
#include <system_error>

#include "base/text.h"
#include "db/audit.h"
#include "scheduler/errors.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/files/removed_folder.h"
#include "scheduler/results/housekeeper.h"
#include "scheduler/results/manifest_result.h"
#include "scheduler/results/stray_folders.h"

namespace scheduler {
namespace {

constexpr size_t kItemsInOneGo = 100;
constexpr int64_t kLinesInOneGo = 5000;
constexpr int64_t kRemovalsRead = 1000;

GcKind kind_of(WhyRemoved why) { return why == WhyRemoved::kAge ? GcKind::kAge : GcKind::kTotal; }

void add(GcReport& report, GcKind kind, int64_t count, int64_t bytes) {
  report.freed[kind].count += count;
  report.freed[kind].bytes += bytes;
}

}  // namespace

void Housekeeper::check_running() const {
  if (stopped_) {
    throw Unavailable("margayd stops or reads its configuration again: run this again later");
  }
}

std::optional<int64_t> Housekeeper::bytes_of(const db::Removal& removal) {
  try {
    const std::string kept = kept_in(removal);
    return kept.empty() ? bytes_in(removal.folder)
                        : bytes_besides(removal.folder, kept, is_result_file);
  } catch (const std::system_error& error) {
    say_once(error.what());
    return std::nullopt;
  }
}

std::vector<ToRemove> Housekeeper::choose_all() {
  if (!retention().removes_items()) return {};
  ended_.read();
  if (retention().total) ended_.measure([this] { return stopped_.load(); });
  check_running();
  return choose_to_remove(ended_.all(), retention(), context_.clock.now());
}

void Housekeeper::collect_ended(GcReport& report, bool dry_run) {
  const std::vector<ToRemove> all = choose_all();
  std::map<int64_t, GcKind> kinds;
  int64_t waiting = 0;
  for (size_t begin = 0; begin < all.size(); begin += kItemsInOneGo) {
    check_running();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        all.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kItemsInOneGo, all.size()));
    if (!dry_run) {
      for (const ToRemove& one : remove_chosen({first, last}, waiting)) {
        kinds[one.item.id] = kind_of(one.why);
        add(report, kind_of(one.why), 1, 0);
      }
      continue;
    }
    for (auto one = first; one != last; ++one) {
      if (!db::RemovedItemStore(context_.database).is_forgotten(one->item.id)) {
        ++waiting;
        continue;
      }
      const int64_t bytes = one->item.bytes ? *one->item.bytes : ended_.bytes_of(one->item.id);
      add(report, kind_of(one->why), 1, bytes);
    }
  }
  if (waiting > 0) {
    report.left.push_back(base::counted(waiting, "item") +
                          " whose jobs the cluster has not confirmed to be gone");
  }
  const auto freed = [&](int64_t item_id, int64_t bytes) {
    const auto kind = kinds.find(item_id);
    const bool now = kind != kinds.end();
    add(report, now ? kind->second : GcKind::kRemoved, now ? 0 : 1, bytes);
  };
  if (!dry_run) {
    tried_ = retry_ms_ = 0;
    finish_removals([] { return false; }, freed);
    check_running();
  }
  const db::RemovedItemStore store(context_.database);
  int64_t refused = 0;
  for (int64_t after = 0;;) {
    const auto removals = store.removals(after, kRemovalsRead);
    if (removals.empty()) break;
    after = removals.back().id;
    for (const db::Removal& removal : removals) {
      const auto bytes = dry_run ? bytes_of(removal) : std::nullopt;
      bytes ? freed(removal.item_id, *bytes) : void(++refused);
    }
  }
  if (refused > 0) {
    report.left.push_back(base::counted(refused, "folder") + " of removed items: " + last_problem_);
  }
}

void Housekeeper::collect_strays(GcReport& report, bool dry_run) {
  const StrayFolders strays = find_stray_folders(context_.database, jobs(), context_.clock.now(),
                                                 [this] { check_running(); });
  for (const std::string& name : strays.names) {
    check_running();
    try {
      const int64_t bytes =
          dry_run ? bytes_in(jobs() + "/" + name) : remove_folder(jobs(), name, context_.crash);
      add(report, GcKind::kStray, 1, bytes);
    } catch (const std::system_error& error) {
      report.left.push_back("folder '" + jobs() + "/" + name + "': " + error.what());
    }
  }
  // Nothing is on its way there while the lock is held.
  if (!dry_run) add(report, GcKind::kStray, 0, remove_aside(jobs()));
  if (strays.young > 0) {
    report.left.push_back(base::counted(strays.young, "folder") +
                          " without a record in which something has changed in the last 24 hours");
  }
  if (!strays.unknown.empty()) {
    report.left.push_back(
        base::counted(static_cast<int64_t>(strays.unknown.size()), "folder") + " of items that " +
        "this database has never known, the first '" + jobs() + "/" +
        std::to_string(strays.unknown.front()) +
        "': they were enqueued after the copy from which it was restored; keep what is of use in "
        "them, and move them away by hand");
  }
}

void Housekeeper::collect_history(GcReport& report, bool dry_run) {
  const auto time = oldest_line();
  if (!time) return;
  db::AuditStore lines(context_.database);
  if (dry_run) {
    add(report, GcKind::kHistory, lines.count_before(*time), 0);
    return;
  }
  for (int64_t removed = kLinesInOneGo; removed == kLinesInOneGo;) {
    check_running();
    removed = lines.remove_before(*time, kLinesInOneGo);
    add(report, GcKind::kHistory, removed, 0);
  }
}

GcReport Housekeeper::collect(bool dry_run) {
  const std::scoped_lock lock(mutex_);
  check_running();
  if (const auto why = why_not_ours(jobs(), context_.database.instance()); !why.empty()) {
    throw Unavailable(why);
  }
  GcReport report;
  chosen_.clear();
  measures_ = false;
  // Lines that the removal writes are not of long ago.
  collect_history(report, dry_run);
  collect_ended(report, dry_run);
  collect_strays(report, dry_run);
  return report;
}

}  // namespace scheduler
