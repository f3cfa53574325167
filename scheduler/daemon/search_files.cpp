#include "scheduler/daemon/search_files.h"

#include <utility>

#include "base/size_text.h"
#include "scheduler/daemon/waiting_items.h"
#include "scheduler/files/disk_space.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/files/registered_file.h"

namespace scheduler {
namespace {

// An unmounted file system is no fault of the items that lie on it.
std::string find_away(const FoundFile& micrograph, const FoundFile& volume) {
  if (micrograph.change == FileChange::kAway) return "micrograph " + micrograph.text;
  return volume.change == FileChange::kAway ? "template volume " + volume.text : "";
}

std::string find_changed(const FoundFile& micrograph, const FoundFile& volume) {
  if (micrograph.change != FileChange::kNone) return "micrograph " + problem_of(micrograph);
  // The manifest has the volume's hash, and the result of another one is not accepted.
  const bool only_renumbered = volume.change == FileChange::kRenumbered;
  if (volume.change == FileChange::kNone || only_renumbered) return "";
  return "template volume " + volume.text +
         (volume.change == FileChange::kMissing ? ": put it back and use `margay retry`"
                                                : "; register it as a new version");
}

bool are_as_registered(const DaemonContext& context, const db::Item& item, const FoundFile& found,
                       const FoundFile& volume) {
  if (const std::string away = find_away(found, volume); !away.empty()) {
    postpone_waiting(context, item.id, away);
    return false;
  }
  const bool renumbered =
      found.change == FileChange::kRenumbered && !item.micrograph_sha256.empty();
  if (!renumbered) {
    if (const std::string changed = find_changed(found, volume); !changed.empty()) {
      end_waiting(context, item.id, db::ItemState::kQuarantined, changed);
      return false;
    }
  }
  if (renumbered || found.ctime_ns != item.micrograph_ctime_ns) {
    read_again(context, item.id);
    return false;
  }
  return true;
}

}  // namespace

std::optional<int64_t> find_files(const DaemonContext& context, const db::Item& item,
                                  const db::Template& search_template) {
  const SeenFile micrograph = context.micrographs->look(item.owner_uid, micrograph_of(item));
  const SeenFile volume =
      context.volumes->look(search_template.owner_uid, volume_of(search_template));
  // Then the policy keeps the item back until its file system has answered.
  if (micrograph.unanswered || volume.unanswered) return std::nullopt;
  for (const SeenFile* seen : {&micrograph, &volume}) {
    if (seen->problem.empty()) continue;
    postpone_waiting(context, item.id, seen->problem);
    return std::nullopt;
  }
  return are_as_registered(context, item, micrograph.found, volume.found)
             ? std::optional(micrograph.needed_bytes)
             : std::nullopt;
}

Room find_room(const DaemonContext& context, const db::Item& item, int64_t needed) {
  const std::string jobs = context.config.jobs();
  if (std::string why = why_not_ours(jobs, context.database.instance()); !why.empty()) {
    return {.none_for_all = std::move(why)};
  }
  const int64_t free = context.free_bytes(jobs);
  if (free >= needed) return {};
  if (free >= kOrdinarySearch) {
    return {.too_little_for_it = "its search needs " + base::size_text(needed) +
                                 " of the disk of '" + jobs + "', which has less"};
  }
  return {.none_for_all = "the disk of '" + jobs + "' is full: " + base::size_text(free) +
                          " free, the next search (" + "item " + std::to_string(item.id) +
                          ") needs " + base::size_text(needed) +
                          "; nothing is started until there is room"};
}

}  // namespace scheduler
