// margay template add, list, show, remove, rename
#pragma once

#include <string>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct TemplateOptions {
  std::string volume;
  std::string name;
  std::string config;
};

Exit add_template(const Context& context, const TemplateOptions& options);
Exit list_templates(const Context& context);
// The template NAME (its newest version) or NAME@VERSION in the answer of GET /v1/templates. Throws
// Failure (not found).
nlohmann::json find_template(const nlohmann::json& answer, const std::string& name);
// Shows NAME (its newest version) or NAME@VERSION. With `settings` only the search settings are
// printed, as registered.
Exit show_template(const Context& context, const std::string& name, bool settings);
Exit remove_template(const Context& context, const std::string& name);
Exit rename_template(const Context& context, const std::string& name, const std::string& new_name);

}  // namespace scheduler::cli
