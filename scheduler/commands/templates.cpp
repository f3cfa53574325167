// Implements commands.h: templates that are removed and renamed.
#include "db/templates.h"

#include "base/text.h"
#include "db/contents.h"
#include "scheduler/commands/commands.h"

namespace scheduler {
namespace {

void check_owner(const Caller& caller, const db::Template& record) {
  if (record.owner_uid == caller.uid || caller.privileged) return;
  throw NotPermitted("template '" + record.name + "' belongs to " + record.owner +
                     ": only its owner, root or the daemon's user may change it");
}

}  // namespace

std::vector<db::Template> Commands::versions_of(const Caller& caller, const std::string& name,
                                                std::optional<int> version) const {
  std::vector<db::Template> found;
  for (const db::Template& record : db::TemplateStore(database_).list()) {
    if (record.name != name || (version && record.version != *version)) continue;
    check_owner(caller, record);
    found.push_back(record);
  }
  if (!found.empty()) return found;
  throw NotFound("no template '" + name + (version ? "@" + std::to_string(*version) : "") +
                 "'; see 'margay template list'");
}

std::vector<db::Template> Commands::remove_template(const Caller& caller, const std::string& name,
                                                    std::optional<int> version) {
  db::Transaction transaction(database_);
  db::TemplateStore templates(database_);
  const std::vector<db::Template> found = versions_of(caller, name, version);
  for (const db::Template& record : found) {
    const std::string versioned = record.name + "@" + std::to_string(record.version);
    const int64_t items = templates.unfinished_items(record.id);
    if (items > 0) {
      throw Conflict("template " + versioned + " has " + base::counted(items, "unfinished item") +
                         ": cancel them or let them end first",
                     0);
    }
    templates.remove(record.id, clock_.now());
    audit(caller, "template remove", 0, versioned);
  }
  commit(transaction);
  return found;
}

void Commands::rename_template(const Caller& caller, const std::string& name,
                               const std::string& new_name) {
  check_template_name(new_name);
  db::Transaction transaction(database_);
  db::TemplateStore templates(database_);
  versions_of(caller, name, std::nullopt);
  if (templates.last_version(new_name) > 0) {
    throw Conflict("there is or was a template '" + new_name + "': choose another name", 0);
  }
  templates.rename(name, new_name);
  db::ContentStore(database_).rename_template(name, new_name);
  audit(caller, "template rename", 0, name + " -> " + new_name);
  commit(transaction);
}

}  // namespace scheduler
