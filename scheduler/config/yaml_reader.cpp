#include "scheduler/config/yaml_reader.h"

#include <limits>

namespace scheduler {

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

Reader flag_into(bool& target) {
  return [&target](const base::YamlValue& value) { target = value.flag(); };
}

Reader duration_into(std::chrono::milliseconds& target) {
  return [&target](const base::YamlValue& value) { target = value.duration(); };
}

Reader section_into(Readers readers) {
  return [readers = std::move(readers)](const base::YamlValue& value) {
    read_section(value.as_section(), readers);
  };
}

}  // namespace scheduler
