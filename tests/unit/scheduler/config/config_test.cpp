// Every section of the configuration: longer than 400 lines, as the file has many keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/config/config_reader.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

std::string refusal(const std::string& yaml) {
  try {
    Config config = parse_config(yaml, "margayd.yaml");
    config.state = "/tmp/state";
    complete_config(config, "/opt/bin");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Config, EveryKeyIsRead) {
  const Config config = parse_config(R"(
state: /var/lib/margay
socket: /run/margay.sock
socket_group: cryoem
engine: /opt/margay-engine
templates: /etc/margay/templates
cluster: local
local: {slots: 4, threads: 8, time: 1:00:00}
tick: 250ms
checkpoint_every: 5m
results: {keep: scores, readers: owner}
intervals: {resolve: 1s, vanish_pending: 2s, vanish_running: 3s, retry: 4s, retry_longest: 1h, stall: 7m}
)",
                                     "margayd.yaml");
  EXPECT_EQ(config.state, "/var/lib/margay");
  EXPECT_EQ(config.database(), "/var/lib/margay/margay.db");
  EXPECT_EQ(config.socket, "/run/margay.sock");
  EXPECT_EQ(config.socket_group, "cryoem");
  EXPECT_EQ(config.local.time, 3600);
  EXPECT_EQ(config.intervals.stall, std::chrono::minutes(7));
  EXPECT_EQ(config.engine, "/opt/margay-engine");
  EXPECT_EQ(config.templates, "/etc/margay/templates");
  EXPECT_EQ(config.local.slots, 4);
  EXPECT_EQ(config.local.threads, 8);
  EXPECT_EQ(config.intervals.tick, milliseconds(250));
  EXPECT_EQ(config.checkpoint_every, milliseconds(300'000));
  EXPECT_EQ(config.keep, ResultsKeep::kScores);
  EXPECT_EQ(config.readers, ResultsReaders::kOwner);
  EXPECT_EQ(config.intervals.resolve, milliseconds(1000));
  EXPECT_EQ(config.intervals.vanish_running, milliseconds(3000));
  EXPECT_EQ(config.intervals.retry_longest, milliseconds(3'600'000));
}

TEST(Config, RatesOfDevicesAreReadAndMustBePositive) {
  const Config config = parse_config("rates: {NVIDIA H200: 3500, NVIDIA L40S: 900.5}\n", "x");
  EXPECT_EQ(config.rates.at("NVIDIA H200"), 3500);
  EXPECT_EQ(config.rates.at("NVIDIA L40S"), 900.5);
  EXPECT_TRUE(parse_config("", "x").rates.empty());
  EXPECT_THAT(refusal("rates: {NVIDIA H200: 0}\n"), HasSubstr("rates.NVIDIA H200 must be greater"));
}

TEST(Config, LocalGpusAreANumberOrAListOfNames) {
  const auto gpus = [](const std::string& value) {
    return parse_config("local: {gpus: " + value + "}\n", "x").local.gpus;
  };
  EXPECT_EQ(parse_config("", "x").local.gpus.count, std::nullopt);
  EXPECT_EQ(gpus("2").count, 2);
  EXPECT_EQ(gpus("0").count, 0);
  EXPECT_EQ(gpus("[]").count, 0);
  EXPECT_THAT(gpus("[0, GPU-5d5b]").named, testing::ElementsAre("0", "GPU-5d5b"));
  EXPECT_EQ(parse_config("local: {gpus_per_search: 4}", "x").local.gpus_per_search, 4);
  EXPECT_THAT(refusal("local: {gpus: all}"), HasSubstr("local.gpus "));
  EXPECT_THAT(refusal("local: {gpus: -1}"), HasSubstr("local.gpus "));
  EXPECT_THAT(refusal("local: {gpus_per_search: 0}"), HasSubstr("local.gpus_per_search"));
}

TEST(Config, GpusThatAreFoundReplaceTheSlotsOfTheProcessor) {
  const slurm::MachineGpus machine{
      .gpus = {{.whole = {.id = "a"}}, {.whole = {.id = "b"}}, {.whole = {.id = "c"}}},
      .note = "seen by chance"};
  LocalOptions local{.slots = 8};
  EXPECT_EQ(local.searches(), 8);
  EXPECT_EQ(local.gpus_of_search(), 0);
  set_local_gpus(local, {});
  EXPECT_EQ(local.searches(), 8) << "without a GPU everything stays as it is";
  set_local_gpus(local, machine);
  EXPECT_EQ(local.searches(), 3);
  EXPECT_EQ(local.gpus_of_search(), 1);
  EXPECT_EQ(local.found_note, "seen by chance");
  local.gpus_per_search = 2;
  set_local_gpus(local, machine);
  EXPECT_EQ(local.searches(), 1) << "the third GPU is left over";
  local.gpus.count = 0;
  set_local_gpus(local, machine);
  EXPECT_EQ(local.searches(), 8);
}

TEST(Config, GpusThatAreNotThereAreRefusedWithTheKey) {
  const auto refused = [](LocalOptions local) -> std::string {
    try {
      set_local_gpus(local, {.gpus = {{.whole = {.id = "a"}}}, .note = "one is lost"});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused({.gpus = {.count = 2}}),
            "local.gpus asks for 2 GPUs, and this machine has 1 (one is lost)");
  LocalOptions two{.gpus = {.count = 2}};
  EXPECT_THROW(set_local_gpus(two, {}), GpusMissing) << "may be there later";
  LocalOptions twice{.gpus = {.named = {"a", "a"}}};
  EXPECT_THROW(
      {
        try {
          set_local_gpus(twice, {.gpus = {{.whole = {.id = "a"}}}});
        } catch (const GpusMissing&) {
          FAIL() << "a later start fails as well";
        }
      },
      ConfigError);
  EXPECT_THAT(refused({.gpus = {.named = {"b"}}}), HasSubstr("local.gpus names 'b'"));
  EXPECT_EQ(refused({.gpus_per_search = 2}),
            "local.gpus_per_search is 2, and there is 1 GPU for searches on this machine");
}

TEST(Config, AnEmptyFileLeavesTheDefaults) {
  EXPECT_EQ(parse_config("", "x").intervals.tick, milliseconds(1000));
  EXPECT_EQ(parse_config("# nothing yet\n", "x").local.slots, 1);
}

TEST(Config, AnUnknownKeyIsRefusedWithTheNearestKnownOne) {
  EXPECT_THAT(refusal("sokcet: /x"),
              AllOf(HasSubstr("margayd.yaml"), HasSubstr("'sokcet'"), HasSubstr("'socket'")));
  EXPECT_THAT(refusal("local: {slot: 2}"),
              AllOf(HasSubstr("'local.slot'"), HasSubstr("did you mean 'slots'")));
  EXPECT_THAT(refusal("zzzzzzzzzzzz: 2"), HasSubstr("unknown key 'zzzzzzzzzzzz'; known here: "));
}

TEST(Config, LimitsHaveDefaultsAndAreReadAndChecked) {
  EXPECT_EQ(parse_config("", "x").limits.connections_per_user, 64);
  const Limits limits =
      parse_config(
          "limits: {items_per_user: 7, labels_per_user: 6, templates_per_user: 5, "
          "label_length: 4, path_length: 3, settings_length: 2, body: 3000000, "
          "requests_per_second: 9, connections_per_user: 8, connections: 10}",
          "x")
          .limits;
  EXPECT_EQ(limits.items_per_user, 7);
  EXPECT_EQ(limits.labels_per_user, 6);
  EXPECT_EQ(limits.templates_per_user, 5);
  EXPECT_EQ(limits.label_length, 4);
  EXPECT_EQ(limits.path_length, 3);
  EXPECT_EQ(limits.settings_length, 2);
  EXPECT_EQ(limits.body, 3'000'000);
  EXPECT_EQ(limits.requests_per_second, 9);
  EXPECT_EQ(limits.connections_per_user, 8);
  EXPECT_EQ(limits.connections, 10);
  EXPECT_THAT(refusal("limits: {item_per_user: 2}"),
              AllOf(HasSubstr("'limits.item_per_user'"), HasSubstr("'items_per_user'")));
  EXPECT_THAT(refusal("limits: {requests_per_second: 0}"),
              HasSubstr("limits.requests_per_second must be between 1 and "));
  EXPECT_THAT(refusal("limits: {body: 100}"), HasSubstr("limits.body must be between "));
  EXPECT_THAT(refusal("limits: {connections_per_user: 512}"),
              HasSubstr("limits.connections must be more than limits.connections_per_user"));
}

TEST(Config, BadValuesAreRefusedByName) {
  EXPECT_THAT(refusal("tick: 5"), AllOf(HasSubstr("tick "), HasSubstr("500ms")));
  EXPECT_THAT(refusal("tick: 0s"), HasSubstr("tick"));
  EXPECT_THAT(refusal("local: {slots: many}"), HasSubstr("local.slots "));
  EXPECT_THAT(refusal("local: {slots: 0}"), HasSubstr("local.slots"));
  EXPECT_THAT(refusal("local: {threads: -1}"), HasSubstr("local.threads"));
  EXPECT_THAT(
      refusal("local: {time: soon}"),
      HasSubstr(
          "local.time must be a time limit as sbatch writes it, such as 1-12:00:00, not 'soon'"));
  EXPECT_THAT(refusal("local: 3"), HasSubstr("local must be a mapping"));
  EXPECT_THAT(refusal("results: {keep: some}"),
              AllOf(HasSubstr("results.keep "), HasSubstr("all, scores or peaks")));
  EXPECT_THAT(refusal("cluster: pbs"), HasSubstr("cluster must be local or slurm, not 'pbs'"));
  EXPECT_THAT(refusal("tick: 1s\ntick: 2s"), HasSubstr("is written twice"));
  EXPECT_THAT(refusal("state: [1"), HasSubstr("not YAML"));
  EXPECT_THAT(refusal("- a"), HasSubstr("mapping"));
}

const std::string kSlurm = "cluster: slurm\nslurm:\n  url: http://head:6820\n  token_file: /t\n";

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

TEST(SlurmConfig, IsLookedAtOnlyWhenItIsUsed) {
  EXPECT_EQ(refusal("slurm: {max_jobs: 0}"), "not refused");
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

TEST(Config, AFileThatIsMissingIsNamed) {
  try {
    read_config("/nowhere/margayd.yaml");
    FAIL() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/margayd.yaml"));
  }
}

TEST(Config, WithoutAStateFolderTheErrorTellsWhereToGiveOne) {
  Config config;
  try {
    complete_config(config, "/opt/bin");
    FAIL() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--state"));
  }
}

TEST(Config, TheEngineIsLookedForBesideTheDaemonAndTheSocketInTheState) {
  Config config;
  config.state = "/tmp/state/";
  complete_config(config, "/opt/bin");
  EXPECT_EQ(config.engine, "/opt/bin/margay-engine");
  EXPECT_EQ(config.socket, "/tmp/state/margay.sock");
  EXPECT_THAT(config.templates, EndsWith("/templates"));
}

TEST(Config, ASocketPathThatIsTooLongIsRefused) {
  Config config;
  config.state = "/tmp/" + std::string(120, 'x');
  EXPECT_THROW(complete_config(config, "/opt/bin"), ConfigError);
}

TEST(Config, JobsMayHaveAFolderOfTheirOwnOnASharedFileSystem) {
  Config config = parse_config("state: /var/lib/margay", "x.yaml");
  complete_config(config, "/usr/bin");
  EXPECT_EQ(config.jobs(), "/var/lib/margay/jobs");
  config = parse_config("state: /var/lib/margay\njobs: /shared/margay/", "x.yaml");
  complete_config(config, "/usr/bin");
  EXPECT_EQ(config.jobs(), "/shared/margay");
  EXPECT_EQ(config.database(), "/var/lib/margay/margay.db");
}

TEST(Config, ALostSubmissionIsLookedUpLaterOnSlurm) {
  Config config;
  EXPECT_EQ(config.resolve_grace(), milliseconds(5000));
  config.cluster = ClusterKind::kSlurm;
  EXPECT_EQ(config.resolve_grace(), milliseconds(30'000));
  config.intervals.resolve = milliseconds(70);
  EXPECT_EQ(config.resolve_grace(), milliseconds(70));
}

TEST(Config, TheStateFolderIsMadeAlsoWhereJobsAreElsewhere) {
  const tests::ScratchFolder folder;
  Config config;
  config.state = folder.file("var/state");
  config.jobs_folder = folder.file("shared/jobs");
  make_folders(config);
  EXPECT_TRUE(std::filesystem::is_directory(config.state));
  EXPECT_TRUE(std::filesystem::is_directory(config.jobs_folder));
  config.jobs_folder = folder.write("file", "") + "/jobs";
  EXPECT_THAT([&] { make_folders(config); },
              testing::ThrowsMessage<ConfigError>(
                  HasSubstr("cannot use the jobs folder '" + config.jobs_folder + "': Not a")));
}

}  // namespace
}  // namespace scheduler
