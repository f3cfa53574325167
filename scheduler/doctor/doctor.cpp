#include "scheduler/doctor/doctor.h"

#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "db/database.h"
#include "scheduler/doctor/probe_job.h"
#include "scheduler/files/disk_space.h"
#include "scheduler/script/job_script.h"
#include "scheduler/script/substitute.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using slurm::Finding;
using Level = slurm::Finding::Level;

constexpr int64_t kLittleRoom = 2'000'000'000;

// The first line that a program prints; empty when it does not run. Killed after 20 s.
std::string first_line_of(const std::string& program, const std::string& argument) {
  const std::string command =
      "timeout -s KILL 20 " + shell_quote(program) + " " + argument + " 2>/dev/null";
  FILE* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) return "";
  std::array<char, 256> buffer{};
  const bool read = std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr;
  while (std::fgetc(pipe) != EOF) continue;
  const bool well = ::pclose(pipe) == 0;
  std::string line = read && well ? buffer.data() : "";
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

Finding examine_engine(const Config& config, const std::string& version) {
  if (!version.empty()) {
    return {.subject = "engine", .says = version + " (" + config.engine + ")"};
  }
  return {.level = Level::kBad,
          .subject = "engine",
          .says = "'" + config.engine + "' does not run on this machine",
          .advice = "set 'engine' to a margay-engine built for it"};
}

Finding examine_templates(const Config& config) {
  try {
    check_script_templates(config);
    return {.subject = "script templates", .says = "'" + config.templates + "' can be used"};
  } catch (const std::exception& error) {
    return {.level = Level::kBad,
            .subject = "script templates",
            .says = error.what(),
            .advice = "correct the template or the configuration: margayd does not start with it"};
  }
}

std::string network_name(const std::string& folder) {
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) return "";
  return db::network_file_system(static_cast<long>(facts.f_type) & 0xFFFFFFFFL);
}

Finding examine_state(const Config& config) {
  Finding finding{.subject = "state folder"};
  if (access(config.state.c_str(), R_OK | W_OK | X_OK) != 0) {
    finding.level = Level::kBad;
    finding.says = "'" + config.state + "' cannot be used: " + std::strerror(errno);
    finding.advice = "make it, owned by the user that runs margayd";
    return finding;
  }
  const std::string network = network_name(config.state);
  if (!network.empty()) {
    finding.level = Level::kBad;
    finding.says = "'" + config.state + "' lies on a network file system (" + network +
                   "), where the database's locks do not hold";
    finding.advice = "choose a state folder on a local disk";
    return finding;
  }
  finding.says = "'" + config.state + "' is on a local disk and can be written";
  return finding;
}

Finding examine_room(const Config& config) {
  Finding finding{.subject = "disk"};
  const std::string folder = fs::exists(config.jobs()) ? config.jobs() : config.state;
  try {
    const int64_t free = free_bytes(folder);
    finding.says = human_bytes(free) + " free for results in '" + folder + "'";
    if (free < kLittleRoom) {
      finding.level = Level::kWarning;
      finding.advice = "a search of a 4k micrograph leaves 0.4 GB: make room, or set results.keep";
    }
  } catch (const std::system_error& error) {
    finding.level = Level::kBad;
    finding.says = error.what();
    finding.advice = "make the folder, owned by the user that runs margayd";
  }
  return finding;
}

Finding examine_database(const Config& config, const std::string& instance) {
  const std::string path = config.database();
  if (!instance.empty()) {
    return {.subject = "database", .says = "'" + path + "', instance " + instance};
  }
  if (!fs::exists(path)) {
    return {.subject = "database", .says = "none yet: margayd makes '" + path + "'"};
  }
  if (access(path.c_str(), R_OK | W_OK) == 0) {
    return {.subject = "database", .says = "'" + path + "' is there"};
  }
  return {.level = Level::kBad,
          .subject = "database",
          .says = "'" + path + "' cannot be used: " + std::strerror(errno),
          .advice = "run this as the user that runs margayd"};
}

std::set<Shape> shapes_used(const Config& config) {
  std::set<Shape> shapes = {config.slurm.shape};
  if (config.slurm.urgent_shape) shapes.insert(*config.slurm.urgent_shape);
  for (const auto& [shape, options] : config.slurm.shape_options) shapes.insert(shape);
  return shapes;
}

void insert_names(std::set<std::string>& names, const slurm::Directives& directives,
                  const std::string& option) {
  const auto found = directives.find(option);
  if (found == directives.end()) return;
  std::istringstream list(found->second);
  for (std::string name; std::getline(list, name, ',');) names.insert(name);
}

class Doctor {
 public:
  Doctor(const Config& config, const Clock& clock, const DoctorOptions& options)
      : config_(config), clock_(clock), options_(options) {}

  std::vector<Finding> examine() {
    const std::string version = first_line_of(config_.engine, "--version");
    findings_.push_back(examine_engine(config_, version));
    findings_.push_back(examine_templates(config_));
    const bool renders = findings_.back().level != Level::kBad;
    findings_.push_back(examine_state(config_));
    const bool writes = findings_.back().level != Level::kBad;
    findings_.push_back(examine_room(config_));
    findings_.push_back(examine_database(config_, options_.instance));
    // What throws here is what this cluster cannot do, and a finding like the others.
    try {
      examine_cluster(renders, writes, version);
    } catch (const std::exception& error) {
      findings_.push_back({.level = Level::kBad,
                           .subject = "cluster",
                           .says = error.what(),
                           .advice = "correct the configuration"});
    }
    return findings_;
  }

 private:
  void examine_cluster(bool renders, bool writes, const std::string& version) {
    const std::string instance =
        "doctor-" + (options_.instance.empty() ? std::to_string(getpid()) : options_.instance);
    const auto cluster = make(instance);
    const auto found = cluster->examine(renders ? names_used(config_) : slurm::Examination());
    findings_.insert(findings_.end(), found.begin(), found.end());
    add_width(*cluster);
    if (!renders || !writes) return;
    if (is_bad(found)) {
      findings_.push_back({.level = Level::kWarning,
                           .subject = "job",
                           .says = "none was tried",
                           .advice = "mend what is bad above and ask again"});
      return;
    }
    ProbeOptions probe{.name = "margay-" + instance + "-" + std::to_string(clock_.now_ms()),
                       .engine_version = version,
                       .patience = options_.patience,
                       .look = options_.look,
                       .sleep = options_.sleep};
    if (!probe.sleep) probe.sleep = [](auto time) { std::this_thread::sleep_for(time); };
    if (config_.cluster == "slurm") probe.asks = directives_of(config_, config_.slurm.shape, {});
    const auto seen = run_probe_job(config_, clock_, *cluster, probe);
    findings_.insert(findings_.end(), seen.begin(), seen.end());
  }

  // Slurm refuses every job that is wider than it.
  void add_width(slurm::Cluster& cluster) {
    if (config_.cluster != "slurm" || shapes_used(config_).count(Shape::kNodes) == 0) return;
    const int nodes = cluster.nodes();
    if (nodes == 0) return;
    const std::string wanted = "slurm.nodes is " + std::to_string(config_.slurm.nodes);
    const std::string there = ", and the cluster has " + std::to_string(nodes);
    if (config_.slurm.nodes <= nodes) {
      findings_.push_back({.subject = "shape nodes", .says = wanted + there});
      return;
    }
    findings_.push_back({.level = Level::kBad,
                         .subject = "shape nodes",
                         .says = wanted + there,
                         .advice = "lower slurm.nodes"});
  }

  // Its own, beside the daemon's: with its own names, and in a folder of its own.
  std::unique_ptr<slurm::Cluster> make(const std::string& instance) const {
    Config own = config_;
    own.state = config_.jobs() + "/.doctor";
    own.slurm.poll = options_.look;
    return options_.make(own, instance);
  }

  const Config& config_;
  const Clock& clock_;
  const DoctorOptions& options_;
  std::vector<Finding> findings_;
};

}  // namespace

slurm::Examination names_used(const Config& config) {
  slurm::Examination names;
  if (config.cluster != "slurm") return names;
  for (const Shape shape : shapes_used(config)) {
    const slurm::Directives asks = directives_of(config, shape, {});
    insert_names(names.partitions, asks, "partition");
    insert_names(names.accounts, asks, "account");
    insert_names(names.qos, asks, "qos");
    names.gpus = names.gpus || slurm::gpus_of(slurm::resources_of(asks, to_string(shape))) > 0;
  }
  return names;
}

std::vector<Finding> examine_site(const Config& config, const Clock& clock,
                                  const DoctorOptions& options) {
  return Doctor(config, clock, options).examine();
}

bool is_bad(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.level == Level::kBad; });
}

}  // namespace scheduler
