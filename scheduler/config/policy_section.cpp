// The section `policy` of the configuration.
#include <charconv>

#include "db/records.h"
#include "scheduler/config/class_widths.h"
#include "scheduler/config/yaml_reader.h"
#include "slurm/sbatch/values.h"

namespace scheduler {
namespace {

// What decides how many GPUs a job gets is no option of its class.
void check_no_width(WidthsBy widths, const std::string& word, const slurm::Directives& options) {
  for (const char* option :
       {"nodes", "ntasks", "ntasks-per-node", "gpus", "gpus-per-node", "gpus-per-task", "gres"}) {
    const auto given = options.find(option);
    if (given == options.end()) continue;
    if (std::string(option) == "gres" && slurm::gpus_of_gres(given->second) == 0) continue;
    const bool chosen = widths == WidthsBy::kChosen;
    throw ConfigError("policy.classes." + word + ": remove " + option + "=" + given->second +
                      " from its options; " +
                      (chosen ? "its least and cap" : "slurm.shape and slurm.urgent_shape") +
                      " set the size of its jobs");
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

// "gpu", "node", "4 nodes", "all"
Reader nodes_into(std::optional<int>& target) {
  return [&target](const base::YamlValue& value) {
    const std::string text = value.text();
    const std::map<std::string, int> words = {
        {"gpu", 0}, {"node", 1}, {"1 node", 1}, {"all", kMostNodes}};
    if (const auto word = words.find(text); word != words.end()) {
      target = word->second;
      return;
    }
    int nodes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nodes);
    const std::string unit(end, text.data() + text.size());
    if (error != std::errc() || unit != " nodes" || nodes < 2 || nodes > kMostNodes) {
      value.refuse("must be gpu, node, a number of nodes such as '4 nodes', or all; not '" + text +
                   "'");
    }
    target = nodes;
  };
}

constexpr base::Words<WidthsBy, 2> kWidthsBy = {
    {{WidthsBy::kFixed, "fixed"}, {WidthsBy::kChosen, "chosen"}}};

Reader share_into(std::optional<double>& target) {
  return [&target](const base::YamlValue& value) {
    target = value.number();
    if (!(*target >= 0 && *target <= 1)) value.refuse("must be between 0 and 1");
  };
}

Reader class_into(ClassOptions& target) {
  return [&target](const base::YamlValue& value) {
    Readers readers = {{"options", directives_into(target.options)},
                       {"least", nodes_into(target.least)},
                       {"cap", nodes_into(target.cap)},
                       {"deadline_cap", nodes_into(target.deadline_cap)},
                       {"least_efficiency", share_into(target.least_efficiency)},
                       {"floor", share_into(target.floor)}};
    for (const char* option : {"partition", "qos", "account", "nice"}) {
      readers[option] = option_into(target.options, option);
    }
    read_section(value.as_section(), readers);
  };
}

void check_has_effect(const Config& config, const std::string& word, const ClassOptions& options) {
  if (config.policy.widths == WidthsBy::kChosen) return;
  const bool widths =
      options.least || options.cap || options.deadline_cap || options.least_efficiency;
  if (!widths && !options.floor) return;
  throw ConfigError("policy.classes." + word +
                    " says how wide its jobs may be, or has a floor, which has no effect while "
                    "widths are fixed: set policy.widths to chosen, or remove least, cap, "
                    "deadline_cap, least_efficiency and floor");
}

void check_widths(db::Priority priority, const ClassWidths& widths) {
  if (widths.cap >= widths.least && widths.deadline_cap >= widths.cap) return;
  const bool narrow = widths.cap < widths.least;
  throw ConfigError(
      "policy.classes." + to_string(priority) + ": its " +
      (narrow ? "cap is " + to_string(widths.cap) + ", narrower than its least width, " +
                    to_string(widths.least) + "; raise cap or lower least (by default slurm.shape)"
              : "deadline_cap is " + to_string(widths.deadline_cap) + ", narrower than its cap, " +
                    to_string(widths.cap) + "; raise deadline_cap or lower cap"));
}

// Nothing waits above urgent items; and where the floors are all there is, nothing goes first.
void check_floors(const Config& config) {
  const auto urgent = config.policy.classes.find(db::Priority::kUrgent);
  if (urgent != config.policy.classes.end() && urgent->second.floor) {
    throw ConfigError("policy.classes.urgent.floor: remove it; nothing waits above urgent items");
  }
  double sum = 0;
  for (const auto& [priority, share] : floors_of(config)) sum += share;
  if (sum < 1) return;
  throw ConfigError(
      "policy.classes: the floors of its classes (by default .10 of normal and .05 of low) must "
      "add up to less than 1, or urgent items would get nothing");
}

// "none" and 0: jobs run until their searches are done.
Reader segment_into(std::optional<std::chrono::milliseconds>& target) {
  return [&target](const base::YamlValue& value) {
    std::chrono::milliseconds segment{0};
    if (value.text() != "none") duration_into(segment)(value);
    if (segment.count() > 0 && segment < std::chrono::minutes(1)) {
      value.refuse("must be at least 1m, since each segment starts its search anew; or none");
    }
    target = segment;
  };
}

// Users, and groups as "@name".
Reader names_into(std::optional<std::set<std::string>>& target) {
  return [&target](const base::YamlValue& value) {
    target.emplace();
    for (const base::YamlValue& item : value.items()) {
      const std::string name = item.text();
      if (name.empty() || name == "@") item.refuse("names nobody: write a user, or @group");
      target->insert(name);
    }
  };
}

// A number for every group, or a number for each that is named. Who is not among those that are
// allowed then needs one.
Reader tokens_into(PolicyOptions& policy) {
  return [&policy](const base::YamlValue& value) {
    if (value.is_section()) {
      const base::YamlSection section = value.as_section();
      for (const std::string& group : section.keys()) {
        policy.urgent_tokens.of_group[group] = section.value(group).integer(0);
      }
    } else {
      policy.urgent_tokens.of_each = value.integer(0);
    }
    if (!policy.urgent_allow) policy.urgent_allow.emplace();
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
  const Reader shares = [&policy](const base::YamlValue& value) {
    const base::YamlSection section = value.as_section();
    for (const std::string& group : section.keys()) {
      policy.shares[group] = section.value(group).positive_number();
    }
  };
  const Readers urgent = {{"allow", names_into(policy.urgent_allow)},
                          {"tokens", tokens_into(policy)}};
  return section_into({{"widths", word_into(policy.widths, kWidthsBy)},
                       {"segment", segment_into(policy.segment)},
                       {"classes", classes},
                       {"shares", shares},
                       {"urgent", section_into(urgent)}});
}

void check_policy(const Config& config) {
  for (const auto& [priority, widths] : class_widths_of(config)) check_widths(priority, widths);
  check_floors(config);
  if (config.policy.segment && config.policy.widths == WidthsBy::kFixed) {
    throw ConfigError(
        "policy.segment has no effect while widths are fixed: set policy.widths to chosen, or "
        "remove it");
  }
  for (const auto& [priority, options] : config.policy.classes) {
    check_has_effect(config, to_string(priority), options);
    if (options.options.empty()) continue;
    const std::string word = to_string(priority);
    if (!facts_of(config.cluster).takes_options) {
      throw ConfigError("policy.classes." + word +
                        " has Slurm options, but searches run on this machine: remove them or "
                        "set 'cluster: slurm'");
    }
    check_no_width(config.policy.widths, word, options.options);
  }
}

}  // namespace scheduler
