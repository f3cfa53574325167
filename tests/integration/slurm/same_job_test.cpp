// What a script's #SBATCH lines ask for arrives by slurmrestd as it does by sbatch: the same job
// by both transports, compared in Slurm's own listing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "slurm/rest/rest_cluster.h"
#include "tests/integration/slurm/testbed.h"
#include "tests/require.h"

namespace tests {
namespace {

// Not NumCPUs: an estimate until the job starts.
const std::set<std::string> kCompared = {
    "Account",       "BurstBuffer",    "CPUs/Task",     "Contiguous",       "CoreSpec",
    "CpusPerTres",   "Deadline",       "ExcNodeList",   "Features",         "Licenses",
    "MailType",      "MailUser",       "MemPerTres",    "MinCPUsNode",      "MinMemoryCPU",
    "MinMemoryNode", "MinTmpDiskNode", "Nice",          "NtasksPerN:B:S:C", "NtasksPerTRES",
    "NumNodes",      "NumTasks",       "OverSubscribe", "Partition",        "QOS",
    "ReqB:S:C:T",    "ReqNodeList",    "Requeue",       "Reservation",      "StdErr",
    "StdOut",        "TimeLimit",      "TresPerJob",    "TresPerNode",      "TresPerTask",
    "UserId",        "WCKey",          "WorkDir",       "Dependency"};

class SameJob : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    if (SlurmBed::missing().empty()) {
      bed_ = new SlurmBed({.nodes = 4, .conf = {"Licenses=search:8"}});
    }
  }
  static void TearDownTestSuite() {
    delete bed_;
    bed_ = nullptr;
  }
  void SetUp() override {
    if (bed_ == nullptr) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  }

  // The output of `scontrol show job`.
  static std::map<std::string, std::string> facts_of(const std::string& job) {
    std::istringstream words(bed_->scontrol({"--oneliner", "show", "job", job}));
    std::map<std::string, std::string> facts;
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      if (equals != std::string::npos && kCompared.contains(name)) {
        facts[name] = word.substr(equals + 1);
      }
    }
    // The same in two spellings, and the cores of a task once more.
    std::string& of_task = facts["TresPerTask"];
    std::replace(of_task.begin(), of_task.end(), ':', '=');
    if (of_task.starts_with("cpu=")) {
      of_task.erase(
          0, of_task.find(',') == std::string::npos ? of_task.size() : of_task.find(',') + 1);
    }
    // Slurm takes the dependency away when it next looks and finds no other job of the name.
    std::string& dependency = facts["Dependency"];
    if (dependency == "singleton(unfulfilled)") dependency = "(null)";
    return facts;
  }

  static std::unique_ptr<slurm::Cluster> rest() {
    const char* version = std::getenv("MARGAY_SLURM_API");
    slurm::RestClusterOptions options;
    options.http.url = bed_->socket();
    options.token_file = bed_->token_file();
    options.api_version = version ? version : "";
    options.name_prefix = "same-";
    options.requests_per_minute = 100'000;
    return slurm::make_rest_cluster(options);
  }

  static SlurmBed* bed_;
};
SlurmBed* SameJob::bed_ = nullptr;

TEST_P(SameJob, ByRestAsBySbatch) {
  const std::string script = "#!/bin/bash\n" + GetParam() + "sleep 1\n";
  const std::string path = bed_->files() + "/script.sh";
  std::ofstream(path) << script;
  const std::string output = bed_->files() + "/job.log";
  std::istringstream sbatch(
      bed_->output_of({"sbatch", "--parsable", "--hold", "--no-requeue", "--dependency=singleton",
                       "--job-name=same-hand", "--output=" + output, "--export=NONE", path},
                      bed_->user()));
  std::string by_hand;
  sbatch >> by_hand;

  const auto cluster = rest();
  slurm::JobRequest request;
  request.name = "same-rest";
  request.script = script;
  request.directory = bed_->files();
  request.output_path = output;
  request.environment = {{"PATH", "/usr/bin:/bin"}};
  request.hold = true;
  const slurm::SubmitResult submitted = cluster->submit(request);
  ASSERT_EQ(submitted.outcome, slurm::SubmitOutcome::kAccepted) << submitted.message;

  std::map<std::string, std::string> hand = facts_of(by_hand);
  std::map<std::string, std::string> rest = facts_of(submitted.job_id);
  // sbatch takes the memory of a GPU as it is written; by REST it is that of a node.
  if (GetParam().find("mem-per-gpu") != std::string::npos) {
    for (const char* field : {"MemPerTres", "MinMemoryCPU", "MinMemoryNode"}) {
      hand.erase(field);
      rest.erase(field);
    }
  }
  EXPECT_EQ(rest, hand);
  cluster->cancel(submitted.job_id);
  bed_->output_of({"scancel", by_hand});
}

INSTANTIATE_TEST_SUITE_P(
    Every, SameJob,
    ::testing::Values("", "#SBATCH --time=90 --partition=short --qos=low --account=research\n",
                      "#SBATCH --nodes=2-4 --ntasks-per-node=2 --cpus-per-task=3\n",
                      "#SBATCH --nodes=2 --gres=gpu:4 --exclusive\n",
                      "#SBATCH --gpus-per-node=2 --mem=8G --time=1-12\n",
                      "#SBATCH --ntasks=4 --gpus-per-task=1 --mem-per-cpu=2G\n",
                      "#SBATCH --gpus=8 --nodes=2 --time=2:00:00\n",
                      "#SBATCH --gpus-per-node=2 --nodes=1 --mem-per-gpu=4G\n",
                      "#SBATCH --mem=0 --nodes=1 --ntasks=1\n",
                      "#SBATCH --nodelist=n02 --nodes=1\n", "#SBATCH --exclude=n[01-02]\n",
                      "#SBATCH --licenses=search:2 --nice=50\n",
                      "#SBATCH --tmp=2G --wckey=search\n",
                      "#SBATCH --begin=2040-01-01 --deadline=2040-02-01T12:00 --time=30\n",
                      "#SBATCH --mail-user=someone@example.org --mail-type=END,FAIL\n",
                      "#SBATCH --error=/tmp/errors.%u --chdir=/tmp\n",
                      "#SBATCH --signal=USR1@120\n", "#SBATCH --exclusive=user --ntasks=2\n"),
    [](const auto& script) {
      std::string name = script.param.empty() ? "Nothing" : "";
      for (const char c : script.param.substr(std::min<size_t>(script.param.size(), 8))) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
      }
      return name;
    });

}  // namespace
}  // namespace tests
