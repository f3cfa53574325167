#include "scheduler/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
local: {slots: 4, threads: 8}
tick: 250ms
checkpoint_every: 5m
results: {keep: scores}
intervals: {resolve: 1s, vanish_pending: 2s, vanish_running: 3s, retry: 4s, retry_longest: 1h}
)",
                                     "margayd.yaml");
  EXPECT_EQ(config.state, "/var/lib/margay");
  EXPECT_EQ(config.database(), "/var/lib/margay/margay.db");
  EXPECT_EQ(config.socket, "/run/margay.sock");
  EXPECT_EQ(config.socket_group, "cryoem");
  EXPECT_EQ(config.engine, "/opt/margay-engine");
  EXPECT_EQ(config.templates, "/etc/margay/templates");
  EXPECT_EQ(config.local.slots, 4);
  EXPECT_EQ(config.local.threads, 8);
  EXPECT_EQ(config.intervals.tick, milliseconds(250));
  EXPECT_EQ(config.checkpoint_every, milliseconds(300'000));
  EXPECT_EQ(config.keep, ResultsKeep::kScores);
  EXPECT_EQ(config.intervals.resolve, milliseconds(1000));
  EXPECT_EQ(config.intervals.vanish_running, milliseconds(3000));
  EXPECT_EQ(config.intervals.retry_longest, milliseconds(3'600'000));
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
  EXPECT_THAT(refusal("zzzzzzzzzzzz: 2"), EndsWith("unknown key 'zzzzzzzzzzzz'"));
}

TEST(Config, BadValuesAreRefusedByName) {
  EXPECT_THAT(refusal("tick: 5"), AllOf(HasSubstr("'tick'"), HasSubstr("500ms")));
  EXPECT_THAT(refusal("tick: 0s"), HasSubstr("tick"));
  EXPECT_THAT(refusal("local: {slots: many}"), HasSubstr("'local.slots'"));
  EXPECT_THAT(refusal("local: {slots: 0}"), HasSubstr("local.slots"));
  EXPECT_THAT(refusal("local: {threads: -1}"), HasSubstr("local.threads"));
  EXPECT_THAT(refusal("local: 3"), HasSubstr("'local' must be a mapping"));
  EXPECT_THAT(refusal("results: {keep: some}"),
              AllOf(HasSubstr("'results.keep'"), HasSubstr("all, scores or peaks")));
  EXPECT_THAT(refusal("cluster: pbs"), AllOf(HasSubstr("'pbs'"), HasSubstr("'slurm'")));
  EXPECT_THAT(refusal("tick: 1s\ntick: 2s"), HasSubstr("given twice"));
  EXPECT_THAT(refusal("state: [1"), HasSubstr("not YAML"));
  EXPECT_THAT(refusal("- a"), HasSubstr("mapping"));
}

TEST(Config, AFileThatIsMissingIsNamed) {
  try {
    read_config("/nowhere/margayd.yaml");
    FAIL() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/margayd.yaml"));
  }
}

TEST(Config, WithoutAStateFolderItSaysWhereToGiveOne) {
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

TEST(Durations, AreANumberAndAUnit) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("2s"), milliseconds(2000));
  EXPECT_EQ(parse_duration("10m"), milliseconds(600'000));
  EXPECT_EQ(parse_duration("1h"), milliseconds(3'600'000));
  for (const char* text : {"", "5", "s", "-1s", "1.5s", "1 s", "1d", "99999999999999999999s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
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

}  // namespace
}  // namespace scheduler
