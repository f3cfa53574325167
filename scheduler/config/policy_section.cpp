// The section `policy` of the configuration.
#include "db/records.h"
#include "scheduler/config/yaml_reader.h"
#include "slurm/sbatch/values.h"

namespace scheduler {
namespace {

// What decides how many GPUs a job gets is no option of its class.
void check_no_width(const std::string& word, const slurm::Directives& options) {
  for (const char* option :
       {"nodes", "ntasks", "ntasks-per-node", "gpus", "gpus-per-node", "gpus-per-task", "gres"}) {
    const auto given = options.find(option);
    if (given == options.end()) continue;
    if (std::string(option) == "gres" && slurm::gpus_of_gres(given->second) == 0) continue;
    throw ConfigError("policy.classes." + word + " asks for " + option + "=" + given->second +
                      ", but how wide its jobs are is said by slurm.shape and slurm.urgent_shape: "
                      "remove it there");
  }
}

Reader option_into(slurm::Directives& target, const std::string& option) {
  return [&target, option](const base::YamlValue& value) {
    try {
      slurm::add_directive(target, option, value.text(), "is refused");
    } catch (const slurm::DirectiveError& error) {
      value.refuse(error.what());
    }
  };
}

Reader class_into(ClassOptions& target) {
  return [&target](const base::YamlValue& value) {
    Readers readers = {{"options", directives_into(target.options)}};
    for (const char* option : {"partition", "qos", "account", "nice"}) {
      readers[option] = option_into(target.options, option);
    }
    read_section(value.as_section(), readers);
  };
}

}  // namespace

Reader policy_into(PolicyOptions& policy) {
  const Reader classes = [&policy](const base::YamlValue& value) {
    Readers readers;
    for (const db::Priority priority :
         {db::Priority::kUrgent, db::Priority::kHigh, db::Priority::kNormal, db::Priority::kLow}) {
      readers[to_string(priority)] = [&policy, priority](const base::YamlValue& section) {
        class_into(policy.classes[priority])(section);
      };
    }
    read_section(value.as_section(), readers);
  };
  return section_into({{"classes", classes}});
}

void check_policy(const Config& config) {
  for (const auto& [priority, options] : config.policy.classes) {
    if (options.options.empty()) continue;
    const std::string word = to_string(priority);
    if (!facts_of(config.cluster).takes_options) {
      throw ConfigError("policy.classes." + word +
                        " has options of Slurm, but searches run on this "
                        "machine: remove them, or set cluster to slurm");
    }
    check_no_width(word, options.options);
  }
}

}  // namespace scheduler
