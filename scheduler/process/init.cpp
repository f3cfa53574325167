#include "scheduler/process/init.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/atomic_file.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/private_folder.h"
#include "base/read_file.h"
#include "base/text.h"
#include "scheduler/config/config.h"
#include "scheduler/config/places.h"
#include "scheduler/daemon/make_cluster.h"
#include "scheduler/process/site_file.h"
#include "slurm/cluster_facts.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

// The installed one, else the source tree's.
std::string read_packaged_file() {
  const fs::path installed = program_folder() / "../share/margay/margayd.yaml";
  const std::string path = fs::exists(installed) ? installed.string() : MARGAY_SITE_FILE;
  const auto text = base::read_file(path);
  if (!text) throw ConfigError("'" + path + "' is missing: install Margay again");
  return *text;
}

bool is_in_path(const std::string& program) {
  const std::string path = base::variable("PATH", "/usr/local/bin:/usr/bin:/bin");
  for (const std::string& folder : base::split(path, ':')) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// nullopt: there is no Slurm here.
std::optional<SiteProposal> ask_slurm() {
  if (!is_in_path("sinfo") || !is_in_path("scontrol")) return std::nullopt;
  Config config;
  config.cluster = ClusterKind::kSlurm;
  config.slurm.transport = Transport::kCli;
  const base::PrivateFolder folder("init");
  config.state = folder.path();
  const slurm::ClusterFacts facts = make_cluster(config, "init")->facts();
  SiteProposal proposal = propose_slurm(facts.site);
  if (proposal.values.empty()) {
    const std::string why = facts.problem.empty() ? "no open partition has nodes" : facts.problem;
    proposal.notes = {"Slurm's commands are here, but " + why +
                      ": this is a configuration without Slurm"};
  }
  return proposal;
}

// Root's queue is the machine's.
void add_own_places(SiteValues& values) {
  if (geteuid() != 0) {
    const UserFolders folders = user_folders();
    values["state"] = yaml_text(default_state(folders));
    values["socket"] = yaml_text(default_socket(folders));
  }
  const std::string engine = (program_folder() / "margay-engine").string();
  if (values.count("cluster") == 0) values["engine"] = yaml_text(engine);
}

}  // namespace

void write_site_file(const std::string& file) {
  SiteProposal proposal = ask_slurm().value_or(
      SiteProposal{.notes = {"found no Slurm here: searches will run on this machine"}});
  add_own_places(proposal.values);
  try {
    if (!base::write_new_file_atomically(file,
                                         with_values(read_packaged_file(), proposal.values))) {
      throw ConfigError("'" + file + "' exists; name another file, or remove it");
    }
  } catch (const base::FileError& error) {
    throw ConfigError(error.what());
  }
  std::printf("%s written\n", file.c_str());
  for (const std::string& note : proposal.notes) std::printf("- %s\n", note.c_str());
  std::printf("- check it: margayd --doctor --config %s\n", file.c_str());
}

}  // namespace scheduler
