// Reads YAML sections into structs, with one reader for each key.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/text.h"
#include "base/words.h"
#include "base/yaml_section.h"
#include "scheduler/config/config.h"

namespace scheduler {

// Reads one value. Throws base::YamlError, as all of YamlValue does, when the value has the wrong
// form.
using Reader = std::function<void(const base::YamlValue&)>;
using Readers = std::map<std::string, Reader>;

// Reads each key of the section; refuses keys without a reader. A null value counts as missing.
void read_section(const base::YamlSection& section, const Readers& readers);

Reader text_into(std::string& target);
Reader number_into(int& target);
// Refuses a number that is not in the range.
Reader number_into(int& target, int least, int most);
Reader flag_into(bool& target);
Reader duration_into(std::chrono::milliseconds& target);
// Refuses 0.
Reader positive_duration_into(std::chrono::milliseconds& target);
// A time limit as sbatch writes it, in seconds; -1 for UNLIMITED.
Reader time_limit_into(int64_t& target);
Reader section_into(Readers readers);

// One of the given words.
template <typename Value, size_t kCount>
Reader word_into(Value& target, const base::Words<Value, kCount>& words) {
  return [&target, words](const base::YamlValue& value) {
    const std::string text = value.text();
    const auto meant = base::value_of(words, text);
    if (!meant) value.refuse("must be " + base::alternatives(words) + ", not '" + text + "'");
    target = *meant;
  };
}

// sbatch's long options.
Reader directives_into(slurm::Directives& target);

// The section `policy`.
Reader policy_into(PolicyOptions& policy);
// Checks that the settings of the section fit together. Throws ConfigError.
void check_policy(const Config& config);

// The section `retention`.
Reader retention_into(Retention& retention);

// The section `slurm`.
Reader slurm_into(SlurmOptions& slurm);
// Checks that the settings of the section fit together and makes paths absolute. Throws
// ConfigError.
void complete_slurm(SlurmOptions& slurm);

}  // namespace scheduler
