// The clusters that every machine has: the local one, and the fake slurmrestd of each release.
#include "tests/integration/cluster_contract.h"

#include <ctime>

#include "slurm/local/local_cluster.h"
#include "slurm/rest/rest_cluster.h"
#include "tests/fakes/fake_slurmrestd.h"
#include "tests/scratch_folder.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class LocalSite : public ContractSite {
 public:
  LocalSite() { fs::create_directory(folder()); }
  ~LocalSite() override {
    const auto cluster = client();
    for (bool stopped = false; !stopped;) {
      stopped = true;
      for (const auto& job : cluster->states().jobs) {
        stopped = cluster->cancel(job.job_id) && stopped;
      }
    }
  }

  std::unique_ptr<slurm::Cluster> client() override {
    slurm::LocalClusterOptions options;
    options.folder = scratch_ / "cluster";
    options.helper = MARGAY_BIN_DIR "/margay-job";
    options.slots = 4;
    options.kill_wait = milliseconds(300);
    return std::make_unique<slurm::LocalCluster>(options);
  }
  fs::path folder() const override { return scratch_ / "work"; }

 private:
  ScratchFolder scratch_;
};

class FakeRestSite : public ContractSite {
 public:
  FakeRestSite(const std::string& release, bool unix_socket) {
    fs::create_directory(folder());
    scratch_.write("token", fake_token("alice", std::time(nullptr) + 3600) + "\n");
    FakeSlurmrestdOptions options{.release = release, .token_file = scratch_ / "token"};
    if (unix_socket) options.unix_path = scratch_ / "socket";
    options.cluster.folder = scratch_ / "cluster";
    options.cluster.kill_wait = milliseconds(300);
    fake_ = std::make_unique<FakeSlurmrestd>(options);
  }

  std::unique_ptr<slurm::Cluster> client() override {
    slurm::RestClusterOptions options;
    options.http.url = fake_->url();
    options.token_file = scratch_ / "token";
    options.user = "alice";
    options.name_prefix = prefix();
    options.poll = milliseconds(10);
    options.requests_per_minute = 100'000;
    return slurm::make_rest_cluster(options);
  }
  fs::path folder() const override { return scratch_ / "work"; }

 private:
  ScratchFolder scratch_;
  std::unique_ptr<FakeSlurmrestd> fake_;
};

std::vector<ContractCluster> clusters_here() {
  const auto rest = [](const std::string& release, bool unix_socket) {
    return [release, unix_socket] { return std::make_unique<FakeRestSite>(release, unix_socket); };
  };
  return {
      {.name = "Local",
       .missing = "",
       .can = {.holds = false,
               .repeats_names = false,
               .has_partitions = false,
               .runs_steps = false,
               .counts_gpus = false},
       .make = [] { return std::make_unique<LocalSite>(); }},
      {.name = "FakeRest2205", .missing = "", .make = rest("22.05", false)},
      {.name = "FakeRest2411", .missing = "", .make = rest("24.11", true)},
  };
}

INSTANTIATE_TEST_SUITE_P(Here, ClusterContract, ::testing::ValuesIn(clusters_here()),
                         name_of_cluster);

}  // namespace
}  // namespace tests
