#include "scheduler/config/yaml_reader.h"

#include <limits>

#include "slurm/sbatch/options.h"
#include "slurm/sbatch/values.h"

namespace scheduler {
namespace {

// A flag of sbatch is written `exclusive: true` or with nothing behind the colon.
std::string option_value(const base::YamlSection& options, const std::string& name) {
  if (!options.has(name)) return "";
  const std::string text = options.text(name);
  const slurm::DirectiveOption* option = slurm::find_option(name);
  if (option == nullptr || option->argument != slurm::Argument::kOptional) return text;
  if (text == "false") options.refuse(name, "cannot be 'false': leave it out");
  return text == "true" ? "" : text;
}

}  // namespace

void read_section(const base::YamlSection& section, const Readers& readers) {
  std::vector<std::string> known;
  for (const auto& [key, reader] : readers) known.push_back(key);
  section.allow_only(known);
  for (const std::string& key : section.keys()) {
    if (section.has(key)) readers.at(key)(section.value(key));
  }
}

Reader text_into(std::string& target) {
  return [&target](const base::YamlValue& value) { target = value.text(); };
}

Reader number_into(int& target) {
  return [&target](const base::YamlValue& value) {
    target = value.integer(std::numeric_limits<int>::min());
  };
}

Reader number_into(int& target, int least, int most) {
  return [&target, least, most](const base::YamlValue& value) {
    number_into(target)(value);
    if (target >= least && target <= most) return;
    value.refuse("must be between " + std::to_string(least) + " and " + std::to_string(most) +
                 ", but is " + std::to_string(target));
  };
}

Reader flag_into(bool& target) {
  return [&target](const base::YamlValue& value) { target = value.flag(); };
}

Reader duration_into(std::chrono::milliseconds& target) {
  return [&target](const base::YamlValue& value) { target = value.duration(); };
}

Reader positive_duration_into(std::chrono::milliseconds& target) {
  return [&target](const base::YamlValue& value) {
    target = value.duration();
    if (target.count() < 1) value.refuse("must be at least 1ms, but is " + value.text());
  };
}

Reader time_limit_into(int64_t& target) {
  return [&target](const base::YamlValue& value) {
    const std::string text = value.text();
    const auto seconds = slurm::parse_time(text);
    if (!seconds) {
      value.refuse("must be a time limit as sbatch writes it, such as 1-12:00:00, not '" + text +
                   "'");
    }
    target = *seconds;
  };
}

Reader section_into(Readers readers) {
  return [readers = std::move(readers)](const base::YamlValue& value) {
    read_section(value.as_section(), readers);
  };
}

Reader directives_into(slurm::Directives& target) {
  return [&target](const base::YamlValue& value) {
    const base::YamlSection options = value.as_section();
    for (const std::string& name : options.keys()) {
      try {
        slurm::add_directive(target, name, option_value(options, name), "is refused");
      } catch (const slurm::DirectiveError& error) {
        options.refuse(name, error.what());
      }
    }
  };
}

}  // namespace scheduler
