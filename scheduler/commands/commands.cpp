#include "scheduler/commands/commands.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "db/audit.h"
#include "db/templates.h"
#include "scheduler/commands/item_words.h"
#include "scheduler/commands/quotas.h"
#include "scheduler/script/engine_config.h"
#include "scheduler/states/lanes.h"

namespace scheduler {
namespace {

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
    throw Invalid("'" + request.settings_name + "': " + error.what());
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
