// The section `retention` of the configuration.
#include "base/duration.h"
#include "base/parse_size.h"
#include "scheduler/config/retention.h"
#include "scheduler/config/yaml_reader.h"

namespace scheduler {
namespace {

constexpr base::Words<bool, 2> kResults = {{{false, "keep"}, {true, "remove"}}};

// "180d", "never"
Reader age_into(Retention::Age& target) {
  return [&target](const base::YamlValue& value) {
    const std::string text = value.text();
    if (text == "never") {
      target.reset();
      return;
    }
    const auto time = base::parse_duration(text);
    if (!time) value.refuse("has an " + base::invalid_duration(text) + ", or never");
    target = std::chrono::duration_cast<std::chrono::seconds>(*time);
    if (target->count() < 1) value.refuse("must be at least 1s, or never");
  };
}

Reader total_into(std::optional<int64_t>& target) {
  return [&target](const base::YamlValue& value) {
    target = base::parse_size(value.text());
    if (!target) value.refuse("has an " + base::invalid_size(value.text()));
  };
}

}  // namespace

bool Retention::keeps_for_ever(db::Priority priority) const {
  const auto own = classes.find(priority);
  return own != classes.end() && !own->second;
}

Retention::Age Retention::age_of(db::Priority priority) const {
  const auto own = classes.find(priority);
  return own == classes.end() ? age : own->second;
}

bool Retention::removes_items() const {
  if (age || total) return true;
  for (const auto& [priority, own] : classes) {
    if (own) return true;
  }
  return false;
}

Reader retention_into(Retention& retention) {
  const Reader classes = [&retention](const base::YamlValue& value) {
    Readers readers;
    for (const db::Priority priority :
         {db::Priority::kUrgent, db::Priority::kHigh, db::Priority::kNormal, db::Priority::kLow}) {
      readers[to_string(priority)] = [&retention, priority](const base::YamlValue& age) {
        age_into(retention.classes[priority])(age);
      };
    }
    read_section(value.as_section(), readers);
  };
  return section_into({{"age", age_into(retention.age)},
                       {"classes", classes},
                       {"total", total_into(retention.total)},
                       {"results", word_into(retention.results, kResults)},
                       {"history", age_into(retention.history)}});
}

}  // namespace scheduler
