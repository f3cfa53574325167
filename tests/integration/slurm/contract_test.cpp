// The same sentences as for every cluster, on a real Slurm: through slurmrestd and through its
// commands.
#include <cstdlib>
#include <filesystem>

#include "slurm/commands/cli_cluster.h"
#include "slurm/rest/rest_cluster.h"
#include "tests/integration/cluster_contract.h"
#include "tests/integration/slurm/site_commands.h"
#include "tests/integration/slurm/testbed.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// One for the whole program.
std::unique_ptr<SlurmBed>& shared_bed() {
  static std::unique_ptr<SlurmBed> bed;
  return bed;
}

class RemoveBed : public ::testing::Environment {
 public:
  void TearDown() override { shared_bed().reset(); }
};
const auto* const kRemoveBed = ::testing::AddGlobalTestEnvironment(new RemoveBed);

class SlurmSite : public ContractSite {
 public:
  SlurmSite() {
    if (!shared_bed()) {
      shared_bed() = std::make_unique<SlurmBed>(BedOptions{.nodes = 8, .rest = "unix,tcp"});
    }
    static int sites = 0;
    number_ = ++sites;
    folder_ = bed().files() + "/site" + std::to_string(number_);
    fs::create_directory(folder_);
    give_file(folder_, bed().user());
  }
  ~SlurmSite() override { bed().run({"scancel", "--user=" + bed().user()}); }
  fs::path folder() const override { return folder_; }
  // The bed remembers the jobs of the tests before.
  std::string prefix() const override { return "margay-contract" + std::to_string(number_) + "-"; }

 protected:
  static const SlurmBed& bed() { return *shared_bed(); }

 private:
  int number_ = 0;
  fs::path folder_;
};

class RestSite : public SlurmSite {
 public:
  explicit RestSite(bool tcp) : tcp_(tcp) {}
  std::unique_ptr<slurm::Cluster> client() override {
    const char* version = std::getenv("MARGAY_SLURM_API");
    slurm::RestClusterOptions options;
    options.http.url = tcp_ ? bed().url() : bed().socket();
    options.token_file = bed().token_file();
    options.api_version = version ? version : "";
    options.name_prefix = prefix();
    options.poll = milliseconds(10);
    options.requests_per_minute = 100'000;
    return slurm::make_rest_cluster(options);
  }

 private:
  bool tcp_;
};

// Slurm's commands as the bed's user, whoever runs the test.
class CommandsSite : public SlurmSite {
 public:
  CommandsSite() {
    write_commands(bed(), folder() / "commands");
    fs::create_directory(folder() / "scratch");
    give_file(folder() / "scratch", bed().user());
  }
  std::unique_ptr<slurm::Cluster> client() override {
    slurm::CliClusterOptions options;
    options.commands = folder() / "commands";
    options.name_prefix = prefix();
    options.scratch = folder() / "scratch";
    options.poll = milliseconds(10);
    options.requests_per_minute = 100'000;
    return slurm::make_cli_cluster(options);
  }
};

std::vector<ContractCluster> slurms() {
  const std::string missing = SlurmBed::missing();
  // slurmrestd signals a job's script together with its steps.
  const ContractAbilities by_rest = {.spares_script = false};
  return {
      {.name = "RestUnix",
       .missing = missing,
       .can = by_rest,
       .make = [] { return std::make_unique<RestSite>(false); }},
      {.name = "RestTcp",
       .missing = missing,
       .can = by_rest,
       .make = [] { return std::make_unique<RestSite>(true); }},
      {.name = "Commands",
       .missing = missing,
       .make = [] { return std::make_unique<CommandsSite>(); }},
  };
}

INSTANTIATE_TEST_SUITE_P(Slurm, ClusterContract, ::testing::ValuesIn(slurms()), name_of_cluster);

}  // namespace
}  // namespace tests
