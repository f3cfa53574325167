// Implements commands.h: new items.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>

#include "base/optics_limits.h"
#include "base/text.h"
#include "db/contents.h"
#include "db/items.h"
#include "db/removed.h"
#include "db/templates.h"
#include "scheduler/commands/commands.h"
#include "scheduler/commands/item_words.h"
#include "scheduler/commands/quotas.h"
#include "scheduler/script/engine_config.h"

namespace scheduler {
namespace {

using db::ItemState;

void check_ctf(const EnqueueRequest& request) {
  const auto check = [&](double value, const char* what, const base::Limits& limits) {
    if (std::isfinite(value) && value >= limits.least && value <= limits.most) return;
    std::ostringstream text;
    text << std::setprecision(15) << '\'' << request.micrograph.path << "': " << what
         << " must be between " << limits.least << " and " << limits.most << limits.unit
         << ", but is " << value;
    throw Invalid(text.str());
  };
  const db::Ctf& ctf = request.ctf;
  check(ctf.defocus_u, "defocus_u", base::kDefocus);
  check(ctf.defocus_v, "defocus_v", base::kDefocus);
  check(ctf.astigmatism_angle, "astigmatism_angle", base::kAngle);
  check(ctf.phase_shift, "phase_shift", base::kAngle);
}

bool name_the_same_template(const EnqueueRequest& a, const EnqueueRequest& b) {
  return a.template_name == b.template_name && a.template_version == b.template_version;
}

// What was enqueued under this path was another file where its content differs.
template <typename Known>
bool may_be_the_same(const EnqueueRequest& request, const Known& known) {
  const bool unread = known.micrograph_sha256.empty() &&
                      known.micrograph_bytes == request.micrograph.bytes &&
                      known.micrograph_mtime_ns == request.micrograph.mtime_ns;
  return unread || known.micrograph_sha256 == request.content;
}

// Requests that differ only in their files are checked once.
bool ask_the_same(const EnqueueRequest& a, const EnqueueRequest& b) {
  return a.priority == b.priority && a.options == b.options && a.group == b.group;
}

}  // namespace

Commands::KnownTemplate Commands::find_template(const EnqueueRequest& request) const {
  const db::TemplateStore templates(database_);
  const auto found = request.template_version
                         ? templates.find_version(request.template_name, *request.template_version)
                         : templates.find_newest(request.template_name);
  if (found) {
    const SettingsOptics optics = optics_of_settings(found->search_yaml);
    return {.record = *found,
            .optics = {.pixel_size = optics.pixel_size,
                       .voltage = optics.voltage,
                       .spherical_aberration = optics.spherical_aberration}};
  }
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
  check_ctf(request);
  check_deadline(request.finish_by);
  check_label(options_.quotas, request.label);
  check_file(options_.quotas, request.micrograph);
  check_path(options_.quotas, request.ctf.source);
}

// Not within a transaction, since the look-up of groups may take a while.
Commands::Checked Commands::check_enqueue(const Caller& caller,
                                          const EnqueueRequest& request) const {
  const UrgentBy by = urgent_by(caller, request.priority);
  check_urgent(by);
  return {.options = checked(caller, request.options),
          .group = group_for(caller, request.group),
          .urgent_by = by};
}

int Commands::repeat_of(const Caller& caller, const EnqueueRequest& request,
                        const db::Template& search_template) const {
  const std::string& path = request.micrograph.path;
  const std::string name = search_template.name + "@" + std::to_string(search_template.version);
  const auto known =
      request.content.empty()
          ? std::nullopt
          : db::ContentStore(database_).find(caller.uid, search_template.name, request.content);
  if (known && !request.again) {
    const std::string where =
        known->path == path ? "'" + path + "' was"
                            : "'" + path + "' has the content of '" + known->path + "', which was";
    throw Conflict(where + " enqueued with template " + search_template.name + " as item " +
                       std::to_string(known->item_id) + "; --again makes another",
                   known->item_id);
  }
  const auto earlier = db::ItemStore(database_).find_newest(path, search_template.id);
  if (earlier && !request.again &&
      (request.content.empty() || may_be_the_same(request, *earlier))) {
    throw Conflict("'" + path + "' with template " + name + " is " + item_name(*earlier) +
                       " already; --again makes another",
                   earlier->id);
  }
  const auto removed = db::RemovedItemStore(database_).find_newest(path, search_template.id);
  // Whoever names a file of a removed item wants it; whoever watches a folder does not name it.
  if (removed && !request.again && !request.content.empty() && may_be_the_same(request, *removed)) {
    throw Conflict("'" + path + "' with template " + name + " was item " +
                       std::to_string(removed->id) + ", which " + removed->removed_by +
                       " removed; --again makes another",
                   removed->id);
  }
  return std::max(earlier ? earlier->repeat + 1 : 0, removed ? removed->repeat + 1 : 0);
}

db::Item Commands::insert(const Caller& caller, const EnqueueRequest& request,
                          const Checked& checked, const KnownTemplate& known) {
  const db::Template& search_template = known.record;
  check_listed(request.micrograph.path, request.listed, search_template, known.optics);
  check_fits(request.micrograph.path, request.image, search_template, known.optics);
  db::ItemStore items(database_);
  const int repeat = repeat_of(caller, request, search_template);
  const bool takes_token = checked.urgent_by == UrgentBy::kToken;
  if (takes_token) check_token(checked.group);
  const int64_t now = clock_.now();
  db::Item item{.micrograph_path = request.micrograph.path,
                .template_id = search_template.id,
                .repeat = repeat,
                .priority = request.priority,
                .state = request.hold ? ItemState::kHeld : ItemState::kQueued,
                .reason = request.hold ? "enqueued on hold by " + caller.name : "",
                .ctf = request.ctf,
                .micrograph_bytes = request.micrograph.bytes,
                .micrograph_mtime_ns = request.micrograph.mtime_ns,
                .micrograph_id = request.micrograph.id,
                .owner_uid = caller.uid,
                .owner = caller.name,
                .group = checked.group,
                .label = request.label,
                .created = now,
                .changed = now,
                .finish_by = request.finish_by,
                .options = checked.options};
  item.id = items.insert(item);
  db::ContentStore contents(database_);
  if (!request.content.empty() &&
      !contents.find(caller.uid, search_template.name, request.content)) {
    contents.insert({.owner_uid = caller.uid,
                     .template_name = search_template.name,
                     .sha256 = request.content,
                     .item_id = item.id,
                     .path = item.micrograph_path});
  }
  const std::string asked = change_of_options({}, item.options);
  audit(caller, "enqueue", item.id,
        to_string(item.priority) + (takes_token ? " with a token of group " + item.group : "") +
            (asked.empty() ? "" : " " + asked));
  if (takes_token) take_token(caller, item);
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
                                        const std::vector<EnqueueRequest>& requests, bool dry_run) {
  std::vector<Enqueued> answers(requests.size());
  std::vector<Checked> checked(requests.size());
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
    const bool same =
        i > 0 && !answers[i - 1].refused && ask_the_same(requests[i], requests[i - 1]);
    checked[i] = same ? checked[i - 1] : check_enqueue(caller, requests[i]);
  });
  db::Transaction transaction(database_);
  std::optional<KnownTemplate> found;
  for_each([&](size_t i) {
    if (i > 0 && !name_the_same_template(requests[i], requests[i - 1])) found.reset();
    if (!found) found = find_template(requests[i]);
    answers[i].item = insert(caller, requests[i], checked[i], *found);
  });
  check_new_items(caller, answers);
  if (!dry_run) commit(transaction);
  return answers;
}

db::Item Commands::enqueue(const Caller& caller, const EnqueueRequest& request) {
  check_request(request);
  const Checked checked = check_enqueue(caller, request);
  db::Transaction transaction(database_);
  Enqueued answer{.item = insert(caller, request, checked, find_template(request))};
  check_new_items(caller, {answer});
  commit(transaction);
  return std::move(*answer.item);
}

}  // namespace scheduler
