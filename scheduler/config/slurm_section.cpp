// The section `slurm` of the configuration.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/words.h"
#include "scheduler/config/yaml_reader.h"
#include "slurm/api_version.h"
#include "slurm/sbatch/options.h"
#include "slurm/sbatch/values.h"

namespace scheduler {
namespace {

Reader shapes_into(std::map<Shape, slurm::Directives>& target) {
  return [&target](const base::YamlValue& value) {
    Readers readers;
    for (const auto& [shape, word] : kShapes) {
      readers[word] = [&target, shape = shape](const base::YamlValue& options) {
        directives_into(target[shape])(options);
      };
    }
    read_section(value.as_section(), readers);
  };
}

Reader option_names_into(std::set<std::string>& target) {
  return [&target](const base::YamlValue& value) {
    target.clear();
    for (const base::YamlValue& item : value.items()) {
      const std::string name = item.text();
      if (slurm::find_option(name) == nullptr) {
        item.refuse("names an option that nobody may give: " + slurm::refusal_of(name));
      }
      target.insert(name);
    }
  };
}

// A list of lines, or one block of text.
Reader lines_into(std::vector<std::string>& target) {
  return [&target](const base::YamlValue& value) {
    std::string text;
    if (value.is_list()) {
      for (const base::YamlValue& line : value.items()) text += line.text() + "\n";
    } else {
      text = value.text();
    }
    target.clear();
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      target.push_back(text.substr(start, end - start));
      start = end + 1;
    }
    for (const std::string& line : target) {
      if (line.starts_with("#SBATCH") || line.starts_with("#MARGAY")) {
        value.refuse("holds shell lines alone; '" + line.substr(0, 7) +
                     "' belongs into a script template or slurm.options");
      }
    }
  };
}

Reader memory_into(int64_t& target) {
  return [&target](const base::YamlValue& value) {
    const std::string text = value.text();
    const auto megabytes = slurm::parse_memory(text);
    if (!megabytes || *megabytes == 0) {
      value.refuse("must be an amount of memory such as 240G, not '" + text + "'");
    }
    target = *megabytes;
  };
}

constexpr base::Words<Transport, 2> kTransports = {
    {{Transport::kRest, "rest"}, {Transport::kCli, "cli"}}};
constexpr base::Words<RankLauncher, 2> kLaunchers = {
    {{RankLauncher::kTask, "task"}, {RankLauncher::kNode, "node"}}};
constexpr base::Words<EngineBackend, 3> kBackends = {
    {{EngineBackend::kAuto, "auto"}, {EngineBackend::kCuda, "cuda"}, {EngineBackend::kCpu, "cpu"}}};
constexpr base::Words<slurm::Accounting, 3> kAccounting = {{{slurm::Accounting::kAuto, "auto"},
                                                            {slurm::Accounting::kOn, "on"},
                                                            {slurm::Accounting::kOff, "off"}}};

// One word for all shapes with GPUs, or a word for each of some.
Reader gpu_types_into(std::map<Shape, std::string>& target) {
  return [&target](const base::YamlValue& value) {
    const auto word = [](const base::YamlValue& type) {
      const std::string text = type.text();
      const bool fits = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
      });
      if (!fits) type.refuse("must be a type as gres names it, such as h200, not '" + text + "'");
      return text;
    };
    Readers readers;
    for (const Shape shape : {Shape::kGpu, Shape::kNode, Shape::kNodes}) {
      if (!value.is_section()) target[shape] = word(value);
      readers[to_string(shape)] = [&target, shape, word](const base::YamlValue& type) {
        target[shape] = word(type);
      };
    }
    if (value.is_section()) read_section(value.as_section(), readers);
  };
}

Reader shape_into(SlurmOptions& slurm) {
  return [&slurm](const base::YamlValue& value) {
    word_into(slurm.shape, kShapes)(value);
    slurm.shape_given = true;
  };
}

Reader urgent_shape_into(std::optional<Shape>& target) {
  return [&target](const base::YamlValue& value) { word_into(target.emplace(), kShapes)(value); };
}

void make_absolute(std::string& path) {
  if (!path.empty()) path = std::filesystem::absolute(path).lexically_normal().string();
}

std::string size_of(const SlurmOptions& slurm, Shape shape) {
  return to_string(shape) + " (" + std::to_string(width_of(slurm, shape).gpus()) + " GPUs)";
}

// Promoted to less than it has, an item would only lose time.
void check_urgent_shape(const SlurmOptions& slurm) {
  if (!slurm.urgent_shape || *slurm.urgent_shape == slurm.shape) return;
  if (width_of(slurm, *slurm.urgent_shape).gpus() > width_of(slurm, slurm.shape).gpus()) return;
  throw ConfigError("slurm.urgent_shape must have more GPUs than slurm.shape: " +
                    size_of(slurm, *slurm.urgent_shape) + " is no more than " +
                    size_of(slurm, slurm.shape) +
                    "; see slurm.nodes and slurm.gpus_per_node, or leave it out");
}

// GPUs for every job would replace those of each shape, while all texts name the shape's.
void check_gpu_options(const SlurmOptions& slurm) {
  for (const char* option : {"gres", "gpus", "gpus-per-node", "gpus-per-task"}) {
    const auto given = slurm.options.find(option);
    if (given == slurm.options.end()) continue;
    if (std::string(option) == "gres" && slurm::gpus_of_gres(given->second) == 0) continue;
    throw ConfigError(
        "slurm.options." + std::string(option) + " is '" + given->second +
        "', which would replace the GPUs of every shape: remove it, and set slurm.gpu_type to the "
        "type of the GPUs and slurm.gpus_per_node to their number on a node");
  }
}

// A key of the other transport would have no effect, and nobody would notice.
void check_cli(const SlurmOptions& slurm) {
  const slurm::HttpOptions& http = slurm.http;
  const std::map<std::string, std::string> unused = {{"url", http.url},
                                                     {"user", slurm.user},
                                                     {"token_file", slurm.token_file},
                                                     {"proxy", http.proxy},
                                                     {"api_version", slurm.api_version},
                                                     {"tls.ca_file", http.ca_file},
                                                     {"tls.certificate", http.certificate},
                                                     {"tls.key", http.key}};
  for (const auto& [key, value] : unused) {
    if (value.empty()) continue;
    throw ConfigError("slurm." + key + " is for transport 'rest'; take it out, or slurm.transport");
  }
}

void check_rest(const SlurmOptions& slurm) {
  const slurm::HttpOptions& http = slurm.http;
  if (http.url.empty()) {
    throw ConfigError(
        "slurm.url is missing: where slurmrestd listens, such as http://head:6820 or "
        "unix:/run/slurmrestd/socket; a site without slurmrestd sets slurm.transport to cli");
  }
  const bool encrypted = http.url.starts_with("https://");
  const bool tcp = encrypted || http.url.starts_with("http://");
  if (!tcp && !http.url.starts_with("unix:/")) {
    throw ConfigError("slurm.url must begin with http://, https:// or unix:/, not '" + http.url +
                      "'");
  }
  if (tcp && slurm.token_file.empty()) {
    throw ConfigError("slurm.token_file is missing: the file that holds the token for '" +
                      http.url + "'");
  }
  const bool any_tls = !http.ca_file.empty() || !http.certificate.empty() || !http.key.empty();
  if (any_tls && !encrypted) {
    throw ConfigError("slurm.tls is for a slurm.url with https://, not '" + http.url + "'");
  }
  if (http.certificate.empty() != http.key.empty()) {
    throw ConfigError("slurm.tls.certificate and slurm.tls.key go together");
  }
  if (!slurm.commands.empty()) {
    throw ConfigError("slurm.commands is for transport 'cli'; take it out, or set slurm.transport");
  }
  if (slurm.api_version.empty() || slurm::parse_api_version(slurm.api_version)) return;
  throw ConfigError("slurm.api_version must be one of " + slurm::known_api_versions() + ", not '" +
                    slurm.api_version + "'; without it the newest that slurmrestd offers is taken");
}

}  // namespace

Reader slurm_into(SlurmOptions& slurm) {
  slurm::HttpOptions& http = slurm.http;
  const Readers tls = {{"ca_file", text_into(http.ca_file)},
                       {"certificate", text_into(http.certificate)},
                       {"key", text_into(http.key)},
                       {"verify", flag_into(http.verify)}};
  return section_into(
      {{"transport", word_into(slurm.transport, kTransports)},
       {"url", text_into(http.url)},
       {"user", text_into(slurm.user)},
       {"token_file", text_into(slurm.token_file)},
       {"api_version", text_into(slurm.api_version)},
       {"connect_timeout", positive_duration_into(http.connect_timeout)},
       {"timeout", positive_duration_into(http.timeout)},
       {"tls", section_into(tls)},
       {"proxy", text_into(http.proxy)},
       {"commands", text_into(slurm.commands)},
       {"poll", positive_duration_into(slurm.access.poll)},
       {"requests_per_minute", number_into(slurm.access.requests_per_minute, 6, 1'000'000)},
       {"accounting", word_into(slurm.access.accounting, kAccounting)},
       {"max_jobs", number_into(slurm.max_jobs, 1, 1'000'000)},
       {"max_pending", number_into(slurm.max_pending, 0, 1'000'000)},
       {"shape", shape_into(slurm)},
       {"urgent_shape", urgent_shape_into(slurm.urgent_shape)},
       {"gpus_per_node", number_into(slurm.gpus_per_node, 1, 1024)},
       {"gpu_type", gpu_types_into(slurm.gpu_types)},
       {"nodes", number_into(slurm.nodes, 1, kMostNodes)},
       {"launcher", word_into(slurm.launcher, kLaunchers)},
       {"backend", word_into(slurm.backend, kBackends)},
       {"longest_time", time_limit_into(slurm.longest_time)},
       {"largest_memory", memory_into(slurm.largest_memory)},
       {"options", directives_into(slurm.options)},
       {"shapes", shapes_into(slurm.shape_options)},
       {"user_options", option_names_into(slurm.user_options)},
       {"setup", lines_into(slurm.setup)}});
}

void complete_slurm(SlurmOptions& slurm) {
  slurm::HttpOptions& http = slurm.http;
  check_gpu_options(slurm);
  check_urgent_shape(slurm);
  if (slurm.transport == Transport::kRest) {
    check_rest(slurm);
  } else {
    check_cli(slurm);
  }
  for (std::string* path :
       {&slurm.token_file, &http.ca_file, &http.certificate, &http.key, &slurm.commands}) {
    make_absolute(*path);
  }
}

}  // namespace scheduler
