#include "scheduler/daemon/make_cluster.h"

#include <filesystem>

#include "db/records.h"
#include "slurm/commands/cli_cluster.h"
#include "slurm/local/local_cluster.h"
#include "slurm/rest/rest_cluster.h"

namespace scheduler {
namespace {

std::unique_ptr<slurm::Cluster> make_local(const Config& config) {
  slurm::LocalClusterOptions options;
  options.folder = config.state + "/cluster";
  options.helper = config.job_program();
  options.gpus = config.local.found;
  options.gpus_note = config.local.found_note;
  options.neighbour = config.local.neighbour;
  options.slots = config.local.slots;
  return std::make_unique<slurm::LocalCluster>(options);
}

std::unique_ptr<slurm::Cluster> make_rest(const SlurmOptions& slurm, const std::string& prefix) {
  slurm::RestClusterOptions options{slurm.access};
  options.name_prefix = prefix;
  options.http = slurm.http;
  options.token_file = slurm.token_file;
  options.user = slurm.user;
  options.api_version = slurm.api_version;
  return slurm::make_rest_cluster(options);
}

std::unique_ptr<slurm::Cluster> make_cli(const Config& config, const std::string& prefix) {
  slurm::CliClusterOptions options{config.slurm.access};
  options.name_prefix = prefix;
  options.commands = config.slurm.commands;
  options.timeout = config.slurm.http.timeout;
  options.scratch = config.state + "/cluster";
  std::filesystem::create_directories(options.scratch);
  return slurm::make_cli_cluster(options);
}

std::unique_ptr<slurm::Cluster> make_slurm(const Config& config, const std::string& prefix) {
  switch (config.slurm.transport) {
    case Transport::kRest:
      return make_rest(config.slurm, prefix);
    case Transport::kCli:
      return make_cli(config, prefix);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<slurm::Cluster> make_cluster(const Config& config, const std::string& instance) {
  const std::string prefix = db::token_prefix(instance);
  switch (config.cluster) {
    case ClusterKind::kLocal:
      return make_local(config);
    case ClusterKind::kSlurm:
      return make_slurm(config, prefix);
  }
  return nullptr;
}

}  // namespace scheduler
