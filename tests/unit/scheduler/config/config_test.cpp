// The sections of the configuration but those with a test of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scratch_folder.h"
#include "tests/unit/scheduler/config/config_refusal.h"

namespace scheduler {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

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
log_level: warning
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
  EXPECT_EQ(config.log_level, LogLevel::kWarning);
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
  EXPECT_THAT(refusal("state: /s\nlimits: {body: 100}"),
              HasSubstr("line 2: limits.body must be between 2000000 and 100000000, but is 100"));
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
