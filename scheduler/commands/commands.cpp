#include "scheduler/commands/commands.h"

#include <algorithm>
#include <cmath>

#include "base/sha256.h"
#include "base/text.h"
#include "db/attempts.h"
#include "db/audit.h"
#include "db/templates.h"
#include "scheduler/commands/quotas.h"
#include "scheduler/files/registered_file.h"
#include "scheduler/policy/lanes.h"
#include "scheduler/script/engine_config.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {
namespace {

using db::ItemState;

std::string item_name(const db::Item& item) {
  return "item " + std::to_string(item.id) + " (" + to_string(item.state) + ")";
}

bool is_name(const std::string& name) {
  const auto plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || name.size() > 64 || !plain(static_cast<unsigned char>(name[0]))) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](unsigned char c) { return plain(c) || c == '.' || c == '_' || c == '-'; });
}

void check_ctf(const db::Ctf& ctf) {
  const auto check = [](double value, const char* what, double least, double most) {
    if (std::isfinite(value) && value >= least && value <= most) return;
    throw Invalid(std::string(what) + " " + std::to_string(value) + " is not between " +
                  std::to_string(static_cast<int64_t>(least)) + " and " +
                  std::to_string(static_cast<int64_t>(most)));
  };
  check(ctf.defocus_u, "defocus_u (A, underfocus positive)", -1e6, 1e6);
  check(ctf.defocus_v, "defocus_v (A, underfocus positive)", -1e6, 1e6);
  check(ctf.astigmatism_angle, "astigmatism_angle (degrees)", -360, 360);
  check(ctf.phase_shift, "phase_shift (degrees)", -360, 360);
}

void check_may_add(const Caller& caller, const std::optional<db::Template>& newest) {
  if (!newest || newest->owner_uid == caller.uid || caller.privileged) return;
  throw NotPermitted("template '" + newest->name + "' belongs to " + newest->owner +
                     ": only its owner may add a version; choose another name");
}

bool name_the_same_template(const EnqueueRequest& a, const EnqueueRequest& b) {
  return a.template_name == b.template_name && a.template_version == b.template_version;
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

std::string option_text(const std::string& name, const std::string& value) {
  const bool one_word = value.find(' ') == std::string::npos;
  return "--" + name + (value.empty() ? "" : "=") + (one_word ? value : "'" + value + "'");
}

// "--time=02:00:00 (was 01:00:00), without --exclusive"; empty when nothing changed.
std::string change_of_options(const ItemOptions& before, const ItemOptions& after) {
  std::vector<std::string> changes;
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    if (old == before.end()) {
      changes.push_back(option_text(name, value));
    } else if (old->second != value) {
      changes.push_back(option_text(name, value) + " (was " + old->second + ")");
    }
  }
  for (const auto& [name, value] : before) {
    if (after.count(name) == 0) changes.push_back("without " + option_text(name, value));
  }
  return base::joined(changes);
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

void Commands::check_template(const Caller& caller, const TemplateRequest& request) const {
  if (!is_name(request.name)) {
    throw Invalid("template name '" + request.name +
                  "': up to 64 letters, digits, '.', '_' and '-', a letter or digit first");
  }
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
                      .version = newest ? newest->version + 1 : 1,
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

db::Template Commands::find_template(const EnqueueRequest& request) const {
  const db::TemplateStore templates(database_);
  const auto found = request.template_version
                         ? templates.find_version(request.template_name, *request.template_version)
                         : templates.find_newest(request.template_name);
  if (found) return *found;
  std::string name = request.template_name;
  if (request.template_version) name += "@" + std::to_string(*request.template_version);
  throw NotFound("no template '" + name + "'; register one with 'margay template add'");
}

ItemOptions Commands::checked(const Caller& caller, const ItemOptions& options) const {
  if (options.empty()) return {};
  if (!options_.check_options) {
    throw BadOption(option_text(options.begin()->first, "") +
                    " is an option of Slurm, and this daemon runs jobs on its own machine");
  }
  return options_.check_options(caller, options);
}

void Commands::check_shared(const Caller& caller, const ItemOptions& options,
                            const std::string& label) const {
  checked(caller, options);
  check_label(options_.quotas, label);
}

void Commands::check_quota(const Caller& caller, int64_t items, const std::string& label) const {
  check_label(options_.quotas, label);
  if (caller.privileged) return;
  check_items(options_.quotas, db::ItemStore(database_).unfinished_of(caller.uid, label), items);
}

// What needs no transaction, but for the options.
void Commands::check_request(const EnqueueRequest& request) const {
  check_ctf(request.ctf);
  check_label(options_.quotas, request.label);
  check_file(options_.quotas, request.micrograph);
  check_path(options_.quotas, request.ctf.source);
}

UrgentRight Commands::urgent_right(const Caller& caller) const {
  const UrgentAllow& allow = options_.urgent_allow;
  const bool groups_matter = allow && !caller.privileged && caller.groups;
  const auto groups = groups_matter ? caller.groups() : std::set<std::string>();
  return {.has = caller.privileged || may_be_urgent(allow, caller.name, groups),
          .who = who_may_be_urgent(allow)};
}

void Commands::check_urgent(const Caller& caller, db::Priority priority) const {
  if (priority > db::Priority::kUrgent || !options_.urgent_allow) return;
  const UrgentRight right = urgent_right(caller);
  if (right.has) return;
  throw NotPermitted("only " + right.who + " may make an item " + to_string(priority) +
                     " ('policy.urgent.allow' in the daemon's configuration): ask one of them to "
                     "promote it, or use high");
}

db::Item Commands::insert(const Caller& caller, const EnqueueRequest& request,
                          const ItemOptions& options, const db::Template& search_template) {
  db::ItemStore items(database_);
  const auto earlier = items.find_newest(request.micrograph.path, search_template.id);
  if (earlier && !request.again) {
    throw Conflict("'" + request.micrograph.path + "' with template " + search_template.name + "@" +
                       std::to_string(search_template.version) + " is " + item_name(*earlier) +
                       " already; --again makes another",
                   earlier->id);
  }
  const int64_t now = clock_.now();
  db::Item item{.micrograph_path = request.micrograph.path,
                .template_id = search_template.id,
                .repeat = earlier ? earlier->repeat + 1 : 0,
                .priority = request.priority,
                .state = request.hold ? ItemState::kHeld : ItemState::kQueued,
                .reason = request.hold ? "enqueued on hold by " + caller.name : "",
                .ctf = request.ctf,
                .micrograph_bytes = request.micrograph.bytes,
                .micrograph_mtime_ns = request.micrograph.mtime_ns,
                .micrograph_id = request.micrograph.id,
                .owner_uid = caller.uid,
                .owner = caller.name,
                .label = request.label,
                .created = now,
                .changed = now,
                .options = options};
  item.id = items.insert(item);
  const std::string asked = change_of_options({}, item.options);
  audit(caller, "enqueue", item.id, to_string(item.priority) + (asked.empty() ? "" : " " + asked));
  return item;
}

// Within the transaction, so that the new items are counted with the others.
void Commands::check_new_items(const Caller& caller, const std::vector<Enqueued>& answers) const {
  if (caller.privileged) return;
  std::map<std::string, int64_t> added;  // by label
  int64_t all = 0;
  for (const Enqueued& answer : answers) {
    if (!answer.item) continue;
    ++added[answer.item->label];
    ++all;
  }
  for (const auto& [label, count] : added) {
    db::Unfinished used = db::ItemStore(database_).unfinished_of(caller.uid, label);
    used.items -= all;
    check_items(options_.quotas, used, all);
  }
}

std::vector<Enqueued> Commands::enqueue(const Caller& caller,
                                        const std::vector<EnqueueRequest>& requests) {
  std::vector<Enqueued> answers(requests.size());
  std::vector<ItemOptions> options(requests.size());
  const auto for_each = [&](const auto& action) {
    for (size_t i = 0; i < requests.size(); ++i) {
      if (answers[i].refused) continue;
      try {
        action(i);
      } catch (const CommandError& error) {
        answers[i].refused = error;
      }
    }
  };
  for_each([&](size_t i) {
    check_request(requests[i]);
    const bool same_class = i > 0 && requests[i].priority == requests[i - 1].priority;
    if (!same_class || answers[i - 1].refused) check_urgent(caller, requests[i].priority);
    const bool same =
        i > 0 && !answers[i - 1].refused && requests[i].options == requests[i - 1].options;
    options[i] = same ? options[i - 1] : checked(caller, requests[i].options);
  });
  db::Transaction transaction(database_);
  std::optional<db::Template> found;
  for_each([&](size_t i) {
    if (i > 0 && !name_the_same_template(requests[i], requests[i - 1])) found.reset();
    if (!found) found = find_template(requests[i]);
    answers[i].item = insert(caller, requests[i], options[i], *found);
  });
  check_new_items(caller, answers);
  commit(transaction);
  return answers;
}

db::Item Commands::enqueue(const Caller& caller, const EnqueueRequest& request) {
  check_request(request);
  check_urgent(caller, request.priority);
  const ItemOptions options = checked(caller, request.options);
  db::Transaction transaction(database_);
  Enqueued answer{.item = insert(caller, request, options, find_template(request))};
  check_new_items(caller, {answer});
  commit(transaction);
  return std::move(*answer.item);
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
  return change(caller, item_id, "promote", [&](db::Item& item) {
    const std::string why = has_ended(item.state)   ? " has ended"
                            : item.cancel_requested ? " is being cancelled"
                                                    : "";
    if (!why.empty()) {
      throw Conflict(item_name(item) + why + ": its priority cannot be changed", item.id);
    }
    if (item.priority != priority) check_urgent(caller, priority);
    const db::Priority before = std::exchange(item.priority, priority);
    return to_string(before) + " -> " + to_string(priority);
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

db::Item Commands::retry(const Caller& caller, int64_t item_id, const RetryRequest& request) {
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
