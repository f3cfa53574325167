#include "scheduler/config/config_reader.h"

#include <filesystem>

#include "base/read_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/words.h"
#include "scheduler/config/yaml_reader.h"
#include "scheduler/files/folder_readers.h"

namespace scheduler {
namespace {

constexpr base::Words<ResultsKeep, 3> kKeeps = {
    {{ResultsKeep::kAll, "all"}, {ResultsKeep::kScores, "scores"}, {ResultsKeep::kPeaks, "peaks"}}};
constexpr base::Words<ResultsReaders, 2> kResultsReaders = {
    {{ResultsReaders::kOwnerAndGroup, "group"}, {ResultsReaders::kOwner, "owner"}}};
constexpr base::Words<LogLevel, 4> kLogLevels = {{{LogLevel::kDebug, "debug"},
                                                  {LogLevel::kInfo, "info"},
                                                  {LogLevel::kWarning, "warning"},
                                                  {LogLevel::kError, "error"}}};
constexpr base::Words<ClusterKind, 2> kClusters = {
    {{ClusterKind::kLocal, "local"}, {ClusterKind::kSlurm, "slurm"}}};

Readers limits_into(Limits& limits) {
  constexpr int kMost = 1'000'000'000;
  return {{"items_per_user", number_into(limits.items_per_user, 1, kMost)},
          {"labels_per_user", number_into(limits.labels_per_user, 1, kMost)},
          {"templates_per_user", number_into(limits.templates_per_user, 1, kMost)},
          {"label_length", number_into(limits.label_length, 1, 65'536)},
          {"path_length", number_into(limits.path_length, 1, 4'096)},
          {"settings_length", number_into(limits.settings_length, 1, 1'000'000)},
          {"file_megabytes", number_into(limits.file_megabytes, 1, 1'000'000)},
          // The names and CTFs of 250 files with long paths fit.
          {"body", number_into(limits.body, 2'000'000, 100'000'000)},
          {"requests_per_second", number_into(limits.requests_per_second, 1, 1'000'000)},
          {"connections_per_user", number_into(limits.connections_per_user, 1, 10'000)},
          {"connections", number_into(limits.connections, 2, 10'000)}};
}

Reader rates_into(std::map<std::string, double>& rates) {
  return [&rates](const base::YamlValue& value) {
    const base::YamlSection section = value.as_section();
    for (const std::string& device : section.keys()) {
      rates[device] = section.value(device).positive_number();
    }
  };
}

// A number of GPUs, or their names.
Reader gpus_into(slurm::GpuChoice& gpus) {
  return [&gpus](const base::YamlValue& value) {
    if (!value.is_list()) {
      gpus.count = value.integer(0);
      return;
    }
    for (const base::YamlValue& name : value.items()) gpus.named.push_back(name.text());
    if (gpus.named.empty()) gpus.count = 0;
  };
}

void read_top(const base::YamlSection& top, Config& config) {
  const Readers local = {{"slots", number_into(config.local.slots, 1, 1024)},
                         {"gpus", gpus_into(config.local.gpus)},
                         {"gpus_per_search", number_into(config.local.gpus_per_search, 1, 1024)},
                         {"threads", number_into(config.local.threads, 0, 4096)},
                         {"time", time_limit_into(config.local.time)}};
  const Readers intervals = {{"resolve", duration_into(config.intervals.resolve)},
                             {"vanish_pending", duration_into(config.intervals.vanish_pending)},
                             {"vanish_running", duration_into(config.intervals.vanish_running)},
                             {"retry", duration_into(config.intervals.retry)},
                             {"retry_longest", duration_into(config.intervals.retry_longest)},
                             {"stall", duration_into(config.intervals.stall)},
                             {"files", duration_into(config.intervals.files)},
                             {"strikes", duration_into(config.intervals.host_failures)}};
  const Readers results = {{"keep", word_into(config.keep, kKeeps)},
                           {"readers", word_into(config.readers, kResultsReaders)}};
  read_section(top, {{"state", text_into(config.state)},
                     {"jobs", text_into(config.jobs_folder)},
                     {"socket", text_into(config.socket)},
                     {"socket_group", text_into(config.socket_group)},
                     {"engine", text_into(config.engine)},
                     {"job", text_into(config.job)},
                     {"templates", text_into(config.templates)},
                     {"log_level", word_into(config.log_level, kLogLevels)},
                     {"cluster", word_into(config.cluster, kClusters)},
                     {"tick", positive_duration_into(config.intervals.tick)},
                     {"checkpoint_every", positive_duration_into(config.checkpoint_every)},
                     {"slurm", slurm_into(config.slurm)},
                     {"policy", policy_into(config.policy)},
                     {"local", section_into(local)},
                     {"intervals", section_into(intervals)},
                     {"limits", section_into(limits_into(config.limits))},
                     {"retention", retention_into(config.retention)},
                     {"rates", rates_into(config.rates)},
                     {"results", section_into(results)}});
}

void check_connections(const Limits& limits) {
  if (limits.connections_per_user < limits.connections) return;
  throw ConfigError(
      "limits.connections must be more than limits.connections_per_user, or one user could keep "
      "the others out");
}

std::string default_templates(const std::filesystem::path& program_folder) {
  const auto installed = program_folder / "../share/margay/templates";
  if (std::filesystem::is_directory(installed)) return installed.string();
  return MARGAY_TEMPLATES;
}

// sun_path's room, with its closing zero.
constexpr size_t kLongestSocket = 107;

}  // namespace

Config parse_config(const std::string& yaml, const std::string& name) {
  Config config;
  try {
    read_top(base::parse_yaml(yaml, name), config);
  } catch (const base::YamlError& error) {
    throw ConfigError(error.what());
  }
  return config;
}

Config read_config(const std::string& path) {
  std::optional<std::string> text;
  try {
    text = base::read_file(path);
  } catch (const std::system_error& error) {
    throw ConfigError(std::string("configuration: ") + error.what());
  }
  if (!text) throw ConfigError("configuration '" + path + "' does not exist");
  return parse_config(*text, path);
}

void complete_config(Config& config, const std::string& program_folder) {
  if (config.state.empty()) {
    throw ConfigError("no state folder: give --state DIR, or 'state' in the configuration");
  }
  const std::filesystem::path programs = program_folder;
  if (config.engine.empty()) config.engine = (programs / "margay-engine").string();
  if (config.templates.empty()) config.templates = default_templates(programs);
  for (std::string* path :
       {&config.state, &config.jobs_folder, &config.engine, &config.job, &config.templates}) {
    if (path->empty()) continue;
    auto absolute = std::filesystem::absolute(*path).lexically_normal().string();
    if (absolute.size() > 1 && absolute.back() == '/') absolute.pop_back();
    *path = absolute;
    if (!base::is_utf8(absolute)) throw ConfigError("path '" + absolute + "' is not valid UTF-8");
  }
  if (config.socket.empty()) config.socket = config.state + "/margay.sock";
  config.socket = std::filesystem::absolute(config.socket).lexically_normal().string();
  if (config.socket.size() > kLongestSocket) {
    throw ConfigError("socket path '" + config.socket + "' is longer than the " +
                      std::to_string(kLongestSocket) +
                      " bytes a Unix socket may have: set 'socket' to a shorter one");
  }
  check_connections(config.limits);
  if (config.local.time == 0) throw ConfigError("local.time must be at least 0:01");
  if (config.cluster == ClusterKind::kSlurm) complete_slurm(config.slurm);
  check_policy(config);
}

void set_local_gpus(LocalOptions& local, const slurm::MachineGpus& machine) {
  const auto message = [&](const slurm::GpuError& error) {
    return std::string("local.gpus ") + error.what() +
           (machine.note.empty() ? "" : " (" + machine.note + ")");
  };
  try {
    local.found = slurm::choose_gpus(machine.gpus, local.gpus);
  } catch (const slurm::GpuAbsent& error) {
    throw GpusMissing(message(error));
  } catch (const slurm::GpuError& error) {
    throw ConfigError(message(error));
  }
  local.found_note = machine.note;
  if (local.found.empty() || local.searches() > 0) return;
  throw ConfigError("local.gpus_per_search is " + std::to_string(local.gpus_per_search) +
                    ", and there " + (local.found.size() == 1 ? "is " : "are ") +
                    base::counted(static_cast<int64_t>(local.found.size()), "GPU") +
                    " for searches on this machine");
}

std::vector<std::string> make_folders(const Config& config) {
  std::vector<std::string> problems;
  const auto add = [&](const std::string& problem) {
    if (!problem.empty()) problems.push_back(problem);
  };
  const auto make = [&](const std::string& what, const std::string& folder) {
    try {
      add(make_passable_folder(folder));
      // Whether the folder of jobs elsewhere is open, as the state folder's, is the site's to say.
      if (folder == config.state + "/jobs") add(let_pass(folder));
    } catch (const std::filesystem::filesystem_error& error) {
      throw ConfigError("cannot use the " + what + " folder '" + folder +
                        "': " + error.code().message());
    }
  };
  make("state", config.state);
  make("jobs", config.jobs());
  return problems;
}

}  // namespace scheduler
