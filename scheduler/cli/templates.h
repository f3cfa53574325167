// margay template add, margay template list
#pragma once

#include <string>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct TemplateOptions {
  std::string volume;
  std::string name;
  std::string config;
};

Exit add_template(const Context& context, const TemplateOptions& options);
Exit list_templates(const Context& context);

}  // namespace scheduler::cli
