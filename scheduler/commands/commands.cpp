#include "scheduler/commands/commands.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "db/attempts.h"
#include "db/audit.h"
#include "db/templates.h"
#include "scheduler/commands/item_words.h"
#include "scheduler/commands/quotas.h"
#include "scheduler/files/registered_file.h"
#include "scheduler/policy/lanes.h"
#include "scheduler/script/engine_config.h"

namespace scheduler {
namespace {

using db::ItemState;

bool is_name(const std::string& name) {
  const auto plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || name.size() > 64 || !plain(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](unsigned char c) { return plain(c) || c == '.' || c == '_' || c == '-'; });
}

void check_may_add(const Caller& caller, const std::optional<db::Template>& newest) {
  if (!newest || newest->owner_uid == caller.uid || caller.privileged) return;
  throw NotPermitted("template '" + newest->name + "' belongs to " + newest->owner +
                     ": only its owner may add a version; choose another name");
}

// How the micrograph changed since the item was enqueued.
std::string change_of_file(const db::Item& item, const FileFacts& facts) {
  if (facts.bytes != item.micrograph_bytes) {
    return "the micrograph changed from " + std::to_string(item.micrograph_bytes) + " to " +
           std::to_string(facts.bytes) + " bytes";
  }
  if (facts.mtime_ns != item.micrograph_mtime_ns) return "the micrograph was written again";
  if (!difference(micrograph_of(item), facts).empty()) return "the micrograph is another file";
  return "the size, time and inode of the file passed are the registered ones";
}

void take_micrograph(const FileFacts& facts, db::Item& item) {
  item.micrograph_bytes = facts.bytes;
  item.micrograph_mtime_ns = facts.mtime_ns;
  item.micrograph_id = facts.id;
  item.micrograph_sha256.clear();
  item.micrograph_ctime_ns = 0;
}

// The one that the caller passed, which must be at the place where the search will look for it.
const FileFacts& passed_micrograph(const RetryRequest& request, const db::Item& item) {
  if (!request.micrograph) {
    throw Invalid(
        "a retry needs the micrograph '" + item.micrograph_path + "' of item " +
        std::to_string(item.id) +
        " open for reading: pass `path` and `file`, or use this version's `margay retry`");
  }
  if (request.micrograph->path != item.micrograph_path) {
    throw Invalid("the micrograph of item " + std::to_string(item.id) + " is '" +
                  item.micrograph_path + "', and what was opened is '" + request.micrograph->path +
                  "': enqueue that file instead");
  }
  return *request.micrograph;
}

}  // namespace

void Commands::audit(const Caller& caller, const std::string& action, int64_t item_id,
                     const std::string& detail) {
  db::AuditStore(database_).insert({.time = clock_.now(),
                                    .uid = caller.uid,
                                    .who = caller.name,
                                    .action = action,
                                    .item_id = item_id,
                                    .detail = detail});
}

void Commands::commit(db::Transaction& transaction) {
  reach(options_.crash, "before-command-commit");
  transaction.commit();
  reach(options_.crash, "after-command-commit");
}

void Commands::check_template_name(const std::string& name) {
  if (is_name(name)) return;
  throw Invalid("template name '" + name +
                "': up to 64 letters, digits, '.', '_' and '-', a letter or digit first");
}

void Commands::check_template(const Caller& caller, const TemplateRequest& request) const {
  check_template_name(request.name);
  check_settings(options_.quotas, request.search_yaml);
  check_file(options_.quotas, request.volume);
  try {
    check_search_settings(request.search_yaml);
  } catch (const SearchSettingsError& error) {
    throw Invalid(std::string("search settings: ") + error.what());
  }
  const db::TemplateStore templates(database_);
  const auto newest = templates.find_newest(request.name);
  // What seems to be registered already adds nothing.
  if (newest && newest->volume_path == request.volume.path &&
      newest->volume_bytes == request.volume.bytes &&
      newest->search_sha256 == base::sha256_of_text(request.search_yaml)) {
    return;
  }
  check_may_add(caller, newest);
  if (!caller.privileged) check_templates(options_.quotas, templates.count_of(caller.uid));
}

AddedTemplate Commands::add_template(const Caller& caller, const TemplateRequest& request) {
  check_template(caller, request);
  const std::string search_sha256 = base::sha256_of_text(request.search_yaml);
  db::Transaction transaction(database_);
  db::TemplateStore templates(database_);
  const auto newest = templates.find_newest(request.name);
  if (newest && newest->volume_sha256 == request.volume_sha256 &&
      newest->search_sha256 == search_sha256 && newest->volume_path == request.volume.path) {
    if (!newest->counts.engine.empty() || request.counts.engine.empty()) return {*newest, true};
    templates.set_counts(newest->id, request.counts);
    commit(transaction);
    return {templates.find(newest->id).value(), true};
  }
  check_may_add(caller, newest);
  if (!caller.privileged) check_templates(options_.quotas, templates.count_of(caller.uid));
  db::Template record{.name = request.name,
                      .version = templates.last_version(request.name) + 1,
                      .volume_path = request.volume.path,
                      .volume_sha256 = request.volume_sha256,
                      .volume_bytes = request.volume.bytes,
                      .volume_mtime_ns = request.volume.mtime_ns,
                      .volume_id = request.volume.id,
                      .search_yaml = request.search_yaml,
                      .search_sha256 = search_sha256,
                      .counts = request.counts,
                      .owner_uid = caller.uid,
                      .owner = caller.name,
                      .created = clock_.now()};
  record.id = templates.insert(record);
  audit(caller, "template add", 0, record.name + "@" + std::to_string(record.version));
  commit(transaction);
  return {record, false};
}

db::Item Commands::changeable(const Caller& caller, int64_t item_id) const {
  const auto item = db::ItemStore(database_).find(item_id);
  if (!item) throw NotFound("no item " + std::to_string(item_id));
  if (item->owner_uid != caller.uid && !caller.privileged) {
    throw NotPermitted("item " + std::to_string(item_id) + " belongs to " + item->owner +
                       ": only its owner, root or the daemon's user may change it");
  }
  return *item;
}

db::Item Commands::change(const Caller& caller, int64_t item_id, const std::string& action,
                          const ItemChange& change) {
  db::Transaction transaction(database_);
  db::Item item = changeable(caller, item_id);
  const std::optional<std::string> detail = change(item);
  if (!detail) return item;
  item.changed = clock_.now();
  db::ItemStore(database_).update(item);
  audit(caller, action, item.id, *detail);
  commit(transaction);
  return item;
}

db::Item Commands::promote(const Caller& caller, int64_t item_id, db::Priority priority) {
  const UrgentBy by = urgent_by(caller, priority);
  return change(caller, item_id, "promote", [&](db::Item& item) {
    const std::string why = has_ended(item.state)   ? " has ended"
                            : item.cancel_requested ? " is being cancelled"
                                                    : "";
    if (!why.empty()) {
      throw Conflict(item_name(item) + why + ": its priority cannot be changed", item.id);
    }
    const bool becomes_urgent = priority <= db::Priority::kUrgent && item.priority != priority;
    const std::string paid = becomes_urgent ? pay_for_urgent(caller, by, item, true) : "";
    const db::Priority before = std::exchange(item.priority, priority);
    return to_string(before) + " -> " + to_string(priority) + paid;
  });
}

db::Item Commands::finish_by(const Caller& caller, int64_t item_id, int64_t time) {
  check_deadline(time);
  return change(caller, item_id, "finish-by", [&](db::Item& item) -> std::optional<std::string> {
    if (has_ended(item.state)) {
      throw Conflict(item_name(item) + " has ended: its deadline cannot be changed", item.id);
    }
    if (item.finish_by == time) return std::nullopt;
    const int64_t before = std::exchange(item.finish_by, time);
    return deadline_text(before) + " -> " + deadline_text(time);
  });
}

db::Item Commands::hold(const Caller& caller, int64_t item_id) {
  return change(caller, item_id, "hold", [&](db::Item& item) -> std::optional<std::string> {
    if (item.state == ItemState::kHeld) return std::nullopt;
    if (item.state != ItemState::kQueued) {
      throw Conflict(item_name(item) + ": only a waiting item can be held", item.id);
    }
    item.state = ItemState::kHeld;
    item.reason = "held by " + caller.name;
    return "";
  });
}

db::Item Commands::release(const Caller& caller, int64_t item_id) {
  return change(caller, item_id, "release", [&](db::Item& item) -> std::optional<std::string> {
    if (item.state == ItemState::kQueued) return std::nullopt;
    if (item.state != ItemState::kHeld) {
      throw Conflict(item_name(item) + ": only a held item can be released", item.id);
    }
    item.state = ItemState::kQueued;
    item.reason.clear();
    return "";
  });
}

db::Item Commands::cancel(const Caller& caller, int64_t item_id) {
  return change(caller, item_id, "cancel", [&](db::Item& item) -> std::optional<std::string> {
    switch (item.state) {
      case ItemState::kCancelled:
        return std::nullopt;
      case ItemState::kDone:
      case ItemState::kFailed:
      case ItemState::kQuarantined:
        throw Conflict(item_name(item) + " has ended: it cannot be cancelled", item.id);
      case ItemState::kQueued:
      case ItemState::kHeld:
        item.state = ItemState::kCancelled;
        item.reason = "cancelled by " + caller.name;
        break;
      case ItemState::kActive:
        if (item.cancel_requested) return std::nullopt;
        item.cancel_requested = true;
        item.reason = "cancel requested by " + caller.name + ": waiting for its job to stop";
        break;
    }
    return "";
  });
}

std::string Commands::change_options(const Caller& caller, const RetryRequest& request,
                                     db::Item& item) const {
  const ItemOptions kept = request.drop_options ? ItemOptions() : item.options;
  // Options that were allowed once are checked again only when others join them.
  const ItemOptions options =
      request.options.empty()
          ? kept
          : checked(caller, slurm::merge(kept, checked(caller, request.options)));
  const std::string change = change_of_options(item.options, options);
  item.options = options;
  return change;
}

// Returns what changed, for the reason. Refuses what must be urgent and may not.
std::string Commands::change_class(const Caller& caller, const RetryRequest& request, UrgentBy by,
                                   db::Item& item) {
  const db::Priority before = item.priority;
  item.priority = request.priority.value_or(before);
  const bool changes = item.priority != before;
  std::string what;
  if (changes) what = "; " + to_string(before) + " -> " + to_string(item.priority);
  if (item.priority > db::Priority::kUrgent) return what;
  const std::string paid = pay_for_urgent(caller, by, item, changes);
  if (paid.empty()) return what;
  return (what.empty() ? "; urgent" : what) + paid;
}

db::Item Commands::retry(const Caller& caller, int64_t item_id, const RetryRequest& request) {
  // The priority of an item that has ended stays.
  const auto ended = db::ItemStore(database_).find(item_id);
  const UrgentBy by =
      urgent_by(caller, request.priority.value_or(ended ? ended->priority : db::Priority::kNormal));
  return change(caller, item_id, "retry", [&](db::Item& item) {
    if (item.state != ItemState::kFailed && item.state != ItemState::kQuarantined &&
        item.state != ItemState::kCancelled) {
      throw Conflict(
          item_name(item) + ": only a failed, quarantined or cancelled item can be retried",
          item.id);
    }
    const FileFacts& facts = passed_micrograph(request, item);
    check_file(options_.quotas, facts);
    check_quota(caller, 1, item.label);
    std::string what = "was " + to_string(item.state);
    if (!item.reason.empty()) what += " (" + item.reason + ")";
    what += "; " + change_of_file(item, facts);
    const std::string options = change_options(caller, request, item);
    if (!options.empty()) what += "; Slurm options: " + options;
    what += change_class(caller, request, by, item);
    const auto newest = db::AttemptStore(database_).newest_of_item(item.id);
    item.exempt_through = newest ? newest->number : 0;
    take_micrograph(facts, item);
    item.state = ItemState::kQueued;
    item.cancel_requested = false;
    item.not_before = 0;
    item.reason = "requeued by " + caller.name + ": " + what;
    return what;
  });
}

void Commands::check_lane(const ItemOptions& lane) const {
  for (const auto& [option, value] : lane) {
    if (!is_place(option)) {
      throw BadOption(option_text(option, value) +
                      " names no lane: give --account, --partition, --qos or --reservation");
    }
    if (!options_.check_options) {
      throw BadOption(
          option_text(option, value) +
          " names a lane of Slurm, and this daemon runs jobs on its own machine: leave it "
          "out to pause or resume the whole queue");
    }
    if (is_name(value)) continue;
    throw BadOption("invalid --" + option + " '" + value +
                    "': give one name of up to 64 letters, digits, '.', '_' and '-', a letter or "
                    "digit first");
  }
}

}  // namespace scheduler
