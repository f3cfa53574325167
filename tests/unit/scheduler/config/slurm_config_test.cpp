// The section `slurm` of the configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/config/config_refusal.h"

namespace scheduler {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

TEST(SlurmConfig, TheTypeOfTheGpusIsGivenForAllShapesOrForEach) {
  const auto types = [](const std::string& line) {
    return parse_config(kSlurm + "  gpu_type: " + line + "\n", "x").slurm.gpu_types;
  };
  EXPECT_EQ(types("h200"),
            (std::map<Shape, std::string>{
                {Shape::kGpu, "h200"}, {Shape::kNode, "h200"}, {Shape::kNodes, "h200"}}));
  EXPECT_EQ(types("{gpu: a100, nodes: h200}"),
            (std::map<Shape, std::string>{{Shape::kGpu, "a100"}, {Shape::kNodes, "h200"}}));
  EXPECT_THAT(refusal(kSlurm + "  gpu_type: gpu:h200"), HasSubstr("slurm.gpu_type must be a type"));
  EXPECT_THAT(refusal(kSlurm + "  gpu_type: {cpu: x}"), HasSubstr("gpu_type.cpu"));
}

TEST(SlurmConfig, GpusForEveryJobAreRefusedWithWhatToWrite) {
  for (const char* option : {"gres: gpu:h200:1", "gres: 'gpu:2,lscratch:9'", "gpus-per-node: 2",
                             "gpus: 8", "gpus-per-task: 1"}) {
    EXPECT_THAT(refusal(kSlurm + "  options: {" + option + "}"),
                AllOf(HasSubstr("would replace the GPUs of every shape"),
                      HasSubstr("slurm.gpu_type"), HasSubstr("slurm.gpus_per_node")))
        << option;
  }
  EXPECT_EQ(refusal(kSlurm + "  options: {gres: lscratch:9}"), "not refused");
}

TEST(SlurmConfig, EveryKeyIsRead) {
  Config config = parse_config(R"(
state: /var/lib/margay
cluster: slurm
slurm:
  transport: rest
  url: https://head:6820
  user: cryoem
  token_file: /run/margay/../margay/token
  api_version: v0.0.40
  connect_timeout: 2s
  timeout: 30s
  tls: {ca_file: /etc/ca.pem, certificate: /etc/margay.pem, key: /etc/margay.key, verify: false}
  proxy: http://proxy:3128
  poll: 15s
  requests_per_minute: 60
  accounting: "on"
  max_jobs: 200
  max_pending: 20
  longest_time: 1-12:00:00
  largest_memory: 120G
  shape: node
  gpus_per_node: 8
  nodes: 3
  urgent_shape: nodes
  launcher: node
  backend: cpu
  options: {partition: gpu, time: 90, exclusive: true, nice:}
  shapes:
    cpu: {partition: cpu, mem: 2048}
    nodes: {constraint: "a100&nvlink"}
  user_options: [time, mail-user]
  setup:
    - module load cuda
    - export X=1
)",
                               "margayd.yaml");
  complete_config(config, "/opt/bin");
  const SlurmOptions& slurm = config.slurm;
  EXPECT_EQ(slurm.transport, Transport::kRest);
  EXPECT_EQ(slurm.http.url, "https://head:6820");
  EXPECT_EQ(slurm.user, "cryoem");
  EXPECT_EQ(slurm.token_file, "/run/margay/token");
  EXPECT_EQ(slurm.api_version, "v0.0.40");
  EXPECT_EQ(slurm.http.connect_timeout, milliseconds(2000));
  EXPECT_EQ(slurm.http.timeout, milliseconds(30'000));
  EXPECT_EQ(slurm.http.ca_file, "/etc/ca.pem");
  EXPECT_EQ(slurm.http.certificate, "/etc/margay.pem");
  EXPECT_EQ(slurm.http.key, "/etc/margay.key");
  EXPECT_FALSE(slurm.http.verify);
  EXPECT_EQ(slurm.http.proxy, "http://proxy:3128");
  EXPECT_EQ(slurm.access.poll, milliseconds(15'000));
  EXPECT_EQ(slurm.access.requests_per_minute, 60);
  EXPECT_EQ(slurm.access.accounting, slurm::Accounting::kOn);
  EXPECT_EQ(slurm.max_jobs, 200);
  EXPECT_EQ(slurm.max_pending, 20);
  EXPECT_EQ(slurm.longest_time, 36 * 3600);
  EXPECT_EQ(slurm.largest_memory, 120 * 1024);
  EXPECT_EQ(slurm.shape, Shape::kNode);
  EXPECT_EQ(slurm.gpus_per_node, 8);
  EXPECT_EQ(slurm.nodes, 3);
  EXPECT_EQ(slurm.urgent_shape, Shape::kNodes);
  EXPECT_EQ(slurm.launcher, RankLauncher::kNode);
  EXPECT_EQ(slurm.backend, EngineBackend::kCpu);
  EXPECT_EQ(slurm.options,
            (slurm::Directives{
                {"partition", "gpu"}, {"time", "01:30:00"}, {"exclusive", ""}, {"nice", "100"}}));
  EXPECT_EQ(slurm.shape_options, (std::map<Shape, slurm::Directives>{
                                     {Shape::kCpu, {{"partition", "cpu"}, {"mem", "2G"}}},
                                     {Shape::kNodes, {{"constraint", "a100&nvlink"}}}}));
  EXPECT_EQ(slurm.user_options, (std::set<std::string>{"time", "mail-user"}));
  EXPECT_EQ(slurm.setup, (std::vector<std::string>{"module load cuda", "export X=1"}));
}

TEST(SlurmConfig, ACommandLineSiteNeedsNeitherAddressNorToken) {
  EXPECT_EQ(refusal("cluster: slurm\nslurm: {transport: cli, commands: /opt/slurm/bin}"),
            "not refused");
  EXPECT_EQ(refusal("cluster: slurm\nslurm: {url: 'unix:/run/slurmrestd/socket'}"), "not refused");
  EXPECT_EQ(refusal(kSlurm), "not refused");
}

TEST(SlurmConfig, WhatItLacksIsLookedAtOnlyWhenItIsUsed) {
  EXPECT_EQ(refusal("slurm: {shape: gpu, urgent_shape: cpu}"), "not refused");
  EXPECT_THAT(refusal("slurm: {max_jobs: 0}"),
              HasSubstr("line 1: slurm.max_jobs must be between 1 and 1000000, but is 0"));
  EXPECT_THAT(refusal("slurm: {max_jbos: 1}"), HasSubstr("'max_jobs'"));
}

TEST(SlurmConfig, WhatIsMissingIsNamed) {
  EXPECT_THAT(refusal("cluster: slurm"), AllOf(HasSubstr("slurm.url"), HasSubstr("cli")));
  EXPECT_THAT(refusal("cluster: slurm\nslurm: {url: 'http://head:6820'}"),
              HasSubstr("slurm.token_file is missing"));
  EXPECT_THAT(refusal("cluster: slurm\nslurm: {url: 'head:6820', token_file: /t}"),
              HasSubstr("must begin with http://, https:// or unix:/"));
}

TEST(SlurmConfig, UrgentItemsGetMoreThanTheOthersOrTheSame) {
  const auto with = [](const std::string& lines) {
    return refusal("cluster: slurm\nslurm: {url: 'unix:/s', " + lines + "}");
  };
  EXPECT_EQ(with("urgent_shape: nodes"), "not refused");
  EXPECT_EQ(with("shape: node, urgent_shape: nodes, nodes: 2"), "not refused");
  EXPECT_EQ(with("shape: cpu, urgent_shape: cpu"), "not refused");
  EXPECT_THAT(with("shape: node, urgent_shape: nodes, nodes: 1"),
              HasSubstr("slurm.urgent_shape must have more GPUs than slurm.shape: nodes (4 GPUs) "
                        "is no more than node (4 GPUs)"));
  EXPECT_THAT(with("shape: node, urgent_shape: gpu"), HasSubstr("slurm.urgent_shape"));
  EXPECT_THAT(with("urgent_shape: wide"),
              HasSubstr("slurm.urgent_shape must be cpu, gpu, node or nodes, not 'wide'"));
  EXPECT_THAT(with("launcher: torchrun"), HasSubstr("must be task or node"));
}

TEST(SlurmConfig, WhatDoesNotFitTogetherIsRefused) {
  EXPECT_THAT(refusal("cluster: slurm\nslurm: {transport: cli, token_file: /t}"),
              HasSubstr("slurm.token_file is for transport 'rest'"));
  EXPECT_THAT(refusal(kSlurm + "  commands: /opt/bin\n"), HasSubstr("slurm.commands"));
  EXPECT_THAT(refusal(kSlurm + "  tls: {ca_file: /ca}\n"), HasSubstr("https://"));
  EXPECT_THAT(refusal("cluster: slurm\nslurm: {url: 'https://h', token_file: /t, "
                      "tls: {certificate: /c}}"),
              HasSubstr("go together"));
}

TEST(SlurmConfig, BadValuesAreRefusedByName) {
  EXPECT_THAT(refusal(kSlurm + "  transport: soap\n"),
              AllOf(HasSubstr("slurm.transport "), HasSubstr("rest or cli")));
  EXPECT_THAT(refusal(kSlurm + "  accounting: maybe\n"), HasSubstr("auto, on or off"));
  EXPECT_THAT(refusal(kSlurm + "  shape: huge\n"), HasSubstr("cpu, gpu, node or nodes"));
  EXPECT_THAT(refusal(kSlurm + "  backend: gpu\n"), HasSubstr("must be auto, cuda or cpu"));
  EXPECT_THAT(refusal(kSlurm + "  api_version: v1\n"), HasSubstr("v0.0.40"));
  EXPECT_THAT(refusal(kSlurm + "  tls: {verfy: no}\n"),
              AllOf(HasSubstr("'slurm.tls.verfy'"), HasSubstr("'verify'")));
  for (const char* key :
       {"max_jobs", "requests_per_minute", "gpus_per_node", "nodes", "max_pending"}) {
    EXPECT_THAT(refusal(kSlurm + "  " + key + ": -1\n"), HasSubstr("slurm." + std::string(key)));
  }
  EXPECT_THAT(refusal(kSlurm + "  longest_time: soon\n"),
              AllOf(HasSubstr("slurm.longest_time "), HasSubstr("'soon'")));
  for (const char* memory : {"much", "0"}) {
    EXPECT_THAT(refusal(kSlurm + "  largest_memory: " + memory + "\n"),
                AllOf(HasSubstr("slurm.largest_memory "), HasSubstr(memory)));
  }
  for (const char* key : {"poll", "timeout", "connect_timeout"}) {
    EXPECT_THAT(refusal(kSlurm + "  " + key + ": 0s\n"), HasSubstr("slurm." + std::string(key)));
  }
}

TEST(SlurmConfig, OptionsAreSbatchs) {
  EXPECT_THAT(refusal(kSlurm + "  options: {partion: x}\n"),
              AllOf(HasSubstr("slurm.options.partion "), HasSubstr("did you mean 'partition'")));
  EXPECT_THAT(refusal(kSlurm + "  options: {job-name: x}\n"), HasSubstr("Margay finds its jobs"));
  EXPECT_THAT(refusal(kSlurm + "  options: {time: soon}\n"), HasSubstr("slurm.options.time "));
  EXPECT_THAT(refusal(kSlurm + "  options: {exclusive: false}\n"), HasSubstr("leave it out"));
  EXPECT_THAT(refusal(kSlurm + "  options: [time]\n"), HasSubstr("mapping"));
  EXPECT_THAT(refusal(kSlurm + "  options: {time: 5, time: 6}\n"), HasSubstr("is written twice"));
  EXPECT_THAT(refusal(kSlurm + "  shapes: {gpus: {time: 5}}\n"),
              AllOf(HasSubstr("'slurm.shapes.gpus'"), HasSubstr("'gpu'")));
  EXPECT_THAT(refusal(kSlurm + "  shapes: {gpu: {tiem: 5}}\n"),
              AllOf(HasSubstr("slurm.shapes.gpu.tiem "), HasSubstr("'time'")));
  EXPECT_THAT(refusal(kSlurm + "  user_options: [tme]\n"),
              AllOf(HasSubstr("slurm.user_options[0] "), HasSubstr("'time'")));
  EXPECT_THAT(refusal(kSlurm + "  setup: ['#SBATCH --qos=x']\n"), HasSubstr("slurm.setup "));
}

TEST(SlurmConfig, SetupMayBeOneBlockOfText) {
  const Config config = parse_config("slurm:\n  setup: |\n    a\n\n    b\n", "x");
  EXPECT_EQ(config.slurm.setup, (std::vector<std::string>{"a", "", "b"}));
}

TEST(SlurmConfig, AUserMayAskForResourcesButNotForPaths) {
  const std::set<std::string> names = Config().slurm.user_options;
  for (const char* name : {"mail-user", "time", "mem-per-gpu", "gpus-per-task", "deadline"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
  for (const char* name : {"chdir", "error", "nodelist", "exclude", "signal"}) {
    EXPECT_EQ(names.count(name), 0U) << name;
  }
}

}  // namespace
}  // namespace scheduler
