#include "scheduler/doctor/doctor.h"

#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "base/group_lookup.h"
#include "base/private_folder.h"
#include "base/size_text.h"
#include "base/text.h"
#include "db/database.h"
#include "scheduler/config/class_widths.h"
#include "scheduler/doctor/held_requests.h"
#include "scheduler/doctor/probe_job.h"
#include "scheduler/doctor/results_readers.h"
#include "scheduler/doctor/shape_needs.h"
#include "scheduler/files/disk_space.h"
#include "scheduler/script/job_script.h"
#include "scheduler/script/substitute.h"
#include "slurm/sbatch/directives.h"
#include "slurm/site_facts.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using slurm::Finding;
using slurm::Findings;

struct Ran {
  std::string line{};  // the first that it printed
  bool well = false;   // it ended with 0
};

Ran run_once(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) return {};
  std::array<char, 256> buffer{};
  const bool read = std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr;
  while (std::fgetc(pipe) != EOF) continue;
  const bool well = ::pclose(pipe) == 0;
  std::string line = read ? buffer.data() : "";
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return {.line = line, .well = well};
}

// Killed after 20 s.
std::string command_of(const std::string& program, const std::string& argument) {
  return "timeout -s KILL 20 " + shell_quote(program) + " " + argument;
}

// The first line that a program prints; empty when it does not run.
std::string first_line_of(const std::string& program, const std::string& argument) {
  const Ran ran = run_once(command_of(program, argument) + " 2>/dev/null");
  return ran.well ? ran.line : "";
}

std::string why_it_does_not_run(const std::string& program) {
  if (access(program.c_str(), X_OK) != 0) return std::strerror(errno);
  const Ran ran = run_once(command_of(program, "--version") + " 2>&1");
  return ran.line.empty() ? "it prints nothing" : ran.line;
}

// An empty version: the program does not run.
void judge_program(const std::string& subject, const std::string& program,
                   const std::string& version, const std::string& advice, Findings& findings) {
  if (version.empty()) {
    findings.bad(subject,
                 "'" + program + "' does not run on this machine: " + why_it_does_not_run(program),
                 advice);
  } else {
    findings.good(subject, version + " (" + program + ")");
  }
}

void examine_job_program(const Config& config, Findings& findings) {
  const std::string program = config.job_program();
  try {
    check_job_program(config);
  } catch (const ConfigError& error) {
    findings.bad("margay-job", error.what(), "margayd does not start without it");
    return;
  }
  judge_program("margay-job", program, first_line_of(program, "--version"),
                "put one that was built for it there, or set 'job'", findings);
}

// Returns whether scripts can be rendered.
bool examine_templates(const Config& config, Findings& findings) {
  try {
    check_script_templates(config);
  } catch (const std::exception& error) {
    findings.bad("script templates", error.what(),
                 "correct the template or the configuration: margayd does not start with it");
    return false;
  }
  findings.good("script templates", "'" + config.templates + "' can be used");
  return true;
}

std::string network_name(const std::string& folder) {
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) return "";
  return db::network_file_system(static_cast<long>(facts.f_type) & 0xFFFFFFFFL);
}

// False also where a folder above it cannot be entered.
bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The folder itself, or the nearest one above it that is there.
std::string existing_part_of(const std::string& folder) {
  fs::path path = fs::absolute(folder);
  while (path != path.root_path() && !is_there(path.string())) path = path.parent_path();
  return path.string();
}

// Returns whether a probe job can be given its folder.
bool examine_state(const Config& config, Findings& findings) {
  const std::string& state = config.state;
  const std::string above = existing_part_of(state);
  if (!is_there(state) && access(above.c_str(), W_OK | X_OK) == 0) {
    findings.warn("state folder",
                  "'" + state + "' is not there yet: margayd makes it when it starts",
                  "start margayd, then run `margay doctor`, which also runs a probe job");
    return false;
  }
  if (access(state.c_str(), R_OK | W_OK | X_OK) != 0) {
    findings.bad("state folder", "'" + state + "' cannot be used: " + std::strerror(errno),
                 "make it, owned by the user that runs margayd");
    return false;
  }
  const std::string network = network_name(state);
  if (!network.empty()) {
    findings.bad("state folder",
                 "'" + state + "' lies on a network file system (" + network +
                     "), where the database's locks do not hold",
                 "choose a state folder on a local disk");
    return false;
  }
  findings.good("state folder", "'" + state + "' is on a local disk and can be written");
  return true;
}

std::string user_name(uid_t uid) {
  const passwd* entry = ::getpwuid(uid);
  return entry == nullptr ? "user " + std::to_string(uid) : entry->pw_name;
}

// Whether root looks at folders of another user's daemon, which could not write what root makes
// there.
bool is_for_another_user(const Config& config, Findings& findings) {
  if (geteuid() != 0) return false;
  for (const std::string& folder : {config.state, config.jobs()}) {
    struct stat facts {};
    if (stat(folder.c_str(), &facts) != 0 || facts.st_uid == 0) continue;
    const std::string owner = user_name(facts.st_uid);
    findings.warn("user",
                  "root runs this, and '" + folder + "' belongs to " + owner + ": no job is tried",
                  "run this as " + owner + ", or `margay doctor` once margayd runs");
    return true;
  }
  return false;
}

void examine_room(const Config& config, Findings& findings) {
  std::error_code hidden;
  if (!fs::exists(config.jobs(), hidden) && hidden) {
    findings.bad("disk", "'" + config.jobs() + "' cannot be looked at: " + hidden.message(),
                 "let the user that runs margayd enter every folder above it");
    return;
  }
  const std::string folder = existing_part_of(config.jobs());
  try {
    const int64_t free = free_bytes(folder);
    const std::string says = base::size_text(free) + " free for results in '" + folder + "'";
    findings.judge(free >= kOrdinarySearch, Finding::Level::kWarning, "disk", says,
                   "a search of a 4k micrograph leaves 0.4 GB: make room, or set results.keep");
  } catch (const std::system_error& error) {
    findings.bad("disk", error.what(), "make the folder, owned by the user that runs margayd");
  }
}

void examine_database(const Config& config, const std::string& instance, Findings& findings) {
  const std::string path = config.database();
  if (!instance.empty()) {
    findings.good("database", "'" + path + "', instance " + instance);
  } else if (!is_there(path)) {
    findings.good("database", "none yet: margayd makes '" + path + "'");
  } else if (access(path.c_str(), R_OK | W_OK) == 0) {
    findings.good("database", "'" + path + "' is there");
  } else {
    findings.bad("database", "'" + path + "' cannot be used: " + std::strerror(errno),
                 "run this as the user that runs margayd");
  }
}

// The folder of a configured socket that is not in the state folder is nobody's to make but the
// site's.
void examine_socket_folder(const Config& config, bool makes_folder, Findings& findings) {
  const std::string folder = fs::path(config.socket).parent_path().string();
  if (config.socket.empty() || fs::path(folder) == fs::path(config.state)) return;
  if (makes_folder && !is_there(folder) &&
      access(existing_part_of(folder).c_str(), W_OK | X_OK) == 0) {
    findings.good("socket", "its folder '" + folder + "' is not there yet: margayd makes it");
    return;
  }
  if (access(folder.c_str(), W_OK | X_OK) == 0) {
    findings.good("socket", "its folder '" + folder + "' can be written");
    return;
  }
  findings.bad("socket", "its folder '" + folder + "' cannot be used: " + std::strerror(errno),
               "make it, owned by the user that runs margayd, and again at each boot where it is "
               "under /run (systemd: RuntimeDirectory=)");
}

bool is_own_group(gid_t group) {
  if (geteuid() == 0 || getegid() == group) return true;
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  return count > 0 && std::find(groups.begin(), groups.end(), group) != groups.end();
}

void examine_socket_group(const Config& config, Findings& findings) {
  const std::string& name = config.socket_group;
  if (name.empty()) return;
  const base::GroupLookup group = base::look_up_group(name);
  if (group.error != 0) {
    findings.bad("socket_group", base::problem_of(group, name),
                 "see that the system's database of groups answers (getent group " + name +
                     "): margayd does not start before");
  } else if (!group.number) {
    findings.bad("socket_group", base::problem_of(group, name),
                 "create it, or correct socket_group: margayd does not start with it");
  } else if (!is_own_group(*group.number)) {
    findings.bad("socket_group", "the user that runs this is no member of group '" + name + "'",
                 "make the user that runs margayd a member: only then can it give its socket to "
                 "the group");
  } else {
    findings.good("socket_group", "group '" + name + "' exists");
  }
}

std::vector<JobShape> shapes_used(const Config& config) {
  std::set<Shape> shapes = {config.slurm.shape};
  if (config.slurm.urgent_shape) shapes.insert(*config.slurm.urgent_shape);
  if (!class_widths_of(config).empty()) shapes.insert({Shape::kGpu, Shape::kNode, Shape::kNodes});
  for (const auto& [shape, options] : config.slurm.shape_options) shapes.insert(shape);
  std::vector<JobShape> used;
  for (const Shape shape : shapes) used.push_back(job_shape_of(config.slurm, shape));
  for (const auto& [priority, options] : config.policy.classes) {
    if (!options.options.empty()) used.push_back(class_shape_of(config.slurm, priority));
  }
  return used;
}

void insert_names(std::set<std::string>& names, const slurm::Directives& directives,
                  const std::string& option) {
  const auto found = directives.find(option);
  if (found == directives.end()) return;
  for (const std::string& name : base::split(found->second, ',')) {
    if (!name.empty()) names.insert(name);
  }
}

class Doctor {
 public:
  Doctor(const Config& config, const Clock& clock, const DoctorOptions& options)
      : config_(config), clock_(clock), options_(options) {}

  std::vector<Finding> examine() {
    const std::string version = first_line_of(config_.engine, "--version");
    judge_program("engine", config_.engine, version, "set 'engine' to a margay-engine built for it",
                  findings_);
    examine_job_program(config_, findings_);
    const bool renders = examine_templates(config_, findings_);
    // A daemon that asks has its own rights.
    if (options_.instance.empty() && is_for_another_user(config_, findings_)) {
      scratch_.emplace("doctor");
    }
    const bool writes = examine_state(config_, findings_) && !scratch_;
    examine_room(config_, findings_);
    examine_database(config_, options_.instance, findings_);
    examine_socket_folder(config_, options_.makes_socket_folder, findings_);
    examine_socket_group(config_, findings_);
    examine_readers(config_, findings_);
    // A cluster that cannot be used as configured throws, which is a finding like the others.
    try {
      examine_cluster(renders, writes, version);
    } catch (const std::exception& error) {
      findings_.bad("cluster", error.what(), "correct the configuration");
    }
    return findings_.all();
  }

 private:
  void examine_cluster(bool renders, bool writes, const std::string& version) {
    // The state folder cannot be used, or is margayd's to make: what another user makes in its
    // place margayd could not write.
    if (!writes && !scratch_) scratch_.emplace("doctor");
    const std::string instance =
        "doctor-" + (options_.instance.empty() ? std::to_string(getpid()) : options_.instance);
    const auto cluster = make(instance);
    const auto found = cluster->examine(renders ? names_used(config_) : slurm::Examination());
    findings_.append(found);
    if (!renders || !writes) return;
    if (is_bad(found)) {
      findings_.warn("job", "none was tried", "fix what is bad above, then run the doctor again");
      return;
    }
    ProbeOptions probe{.name = "margay-" + instance + "-" + std::to_string(clock_.now_ms()),
                       .engine_version = version,
                       .timeout = options_.timeout,
                       .poll = options_.poll,
                       .sleep = options_.sleep};
    if (!probe.sleep) probe.sleep = [](auto time) { std::this_thread::sleep_for(time); };
    if (facts_of(config_.cluster).takes_options) {
      const auto held = try_held_requests(
          config_, *cluster, shapes_used(config_),
          {.name = probe.name + "-held", .poll = probe.poll, .sleep = probe.sleep});
      findings_.append(held);
      probe.asks = directives_of(config_, config_.slurm.shape, {});
      probe.backend = config_.slurm.backend;
    }
    findings_.append(run_probe_job(config_, clock_, *cluster, probe));
  }

  // A cluster object beside the daemon's, with other job names and a folder of its own.
  std::unique_ptr<slurm::Cluster> make(const std::string& instance) const {
    Config own = config_;
    own.state = scratch_ ? scratch_->path() : config_.jobs() + "/.doctor";
    own.slurm.access.poll = options_.poll;
    own.local.neighbour = config_.state + "/cluster";
    return options_.make(own, instance);
  }

  const Config& config_;
  const Clock& clock_;
  const DoctorOptions& options_;
  Findings findings_;
  std::optional<base::PrivateFolder> scratch_;  // in place of one among the jobs'
};

}  // namespace

slurm::Examination names_used(const Config& config) {
  slurm::Examination names;
  if (!facts_of(config.cluster).takes_options) return names;
  names.poll = config.slurm.access.poll;
  for (const JobShape& shape : shapes_used(config)) {
    const slurm::Directives asks = directives_of(config, shape, {});
    insert_names(names.partitions, asks, "partition");
    insert_names(names.accounts, asks, "account");
    insert_names(names.qos, asks, "qos");
    if (shape.shape == Shape::kNodes) names.nodes = config.slurm.nodes;
    names.shapes.push_back(needs_of(config, shape));
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
                     [](const Finding& finding) { return finding.level == Finding::Level::kBad; });
}

}  // namespace scheduler
