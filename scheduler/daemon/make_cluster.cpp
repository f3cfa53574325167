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
  options.slots = config.local.slots;
  return std::make_unique<slurm::LocalCluster>(options);
}

std::unique_ptr<slurm::Cluster> make_rest(const SlurmOptions& slurm, const std::string& prefix) {
  slurm::RestClusterOptions options;
  options.http = {.url = slurm.url,
                  .connect_timeout = slurm.connect_timeout,
                  .timeout = slurm.timeout,
                  .ca_file = slurm.ca_file,
                  .certificate = slurm.certificate,
                  .key = slurm.key,
                  .verify = slurm.verify,
                  .proxy = slurm.proxy};
  options.token_file = slurm.token_file;
  options.user = slurm.user;
  options.api_version = slurm.api_version;
  options.name_prefix = prefix;
  options.poll = slurm.poll;
  options.requests_per_minute = slurm.requests_per_minute;
  options.accounting = slurm.accounting;
  return slurm::make_rest_cluster(options);
}

std::unique_ptr<slurm::Cluster> make_cli(const Config& config, const std::string& prefix) {
  slurm::CliClusterOptions options;
  options.commands = config.slurm.commands;
  options.timeout = config.slurm.timeout;
  options.name_prefix = prefix;
  options.scratch = config.state + "/cluster";
  std::filesystem::create_directories(options.scratch);
  options.poll = config.slurm.poll;
  options.requests_per_minute = config.slurm.requests_per_minute;
  options.accounting = config.slurm.accounting;
  return slurm::make_cli_cluster(options);
}

}  // namespace

std::unique_ptr<slurm::Cluster> make_cluster(const Config& config, const std::string& instance) {
  const std::string prefix = db::token_prefix(instance);
  switch (config.cluster) {
    case ClusterKind::kLocal:
      return make_local(config);
    case ClusterKind::kSlurm:
      return config.slurm.transport == Transport::kRest ? make_rest(config.slurm, prefix)
                                                        : make_cli(config, prefix);
  }
  return nullptr;
}

}  // namespace scheduler
