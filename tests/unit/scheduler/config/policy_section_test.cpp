#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "scheduler/config/class_widths.h"
#include "scheduler/config/config_reader.h"

namespace scheduler {
namespace {

using db::Priority;
using slurm::Directives;
using testing::AllOf;
using testing::HasSubstr;

const std::string kSite = "cluster: slurm\nslurm: {url: http://head:6820, token_file: /t}\n";

Config completed(const std::string& yaml) {
  Config config = parse_config(yaml, "margayd.yaml");
  config.state = "/tmp/state";
  complete_config(config, "/opt/bin");
  return config;
}

std::string refusal_of(const std::string& yaml) {
  try {
    completed(yaml);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(PolicySection, AClassMayHaveAPlaceAndOptionsOfItsOwn) {
  const Config config = completed(kSite + R"(policy:
  classes:
    urgent: {partition: fast, qos: urgent, nice: -5, account: core, options: {constraint: nvlink}}
    low: {qos: scavenger}
)");
  EXPECT_EQ(config.policy.options_of(Priority::kUrgent), (Directives{{"partition", "fast"},
                                                                     {"qos", "urgent"},
                                                                     {"nice", "-5"},
                                                                     {"account", "core"},
                                                                     {"constraint", "nvlink"}}));
  EXPECT_EQ(config.policy.options_of(Priority::kLow), (Directives{{"qos", "scavenger"}}));
  EXPECT_EQ(config.policy.options_of(Priority::kHigh), Directives());
}

TEST(PolicySection, GroupsHaveSharesOfTheGpus) {
  const Config config = completed(kSite + "policy: {shares: {cryo: 2.5, 'cell biology': 1}}");
  EXPECT_EQ(config.policy.shares,
            (std::map<std::string, double>{{"cryo", 2.5}, {"cell biology", 1}}));
  EXPECT_THAT(refusal_of(kSite + "policy: {shares: {cryo: 0}}"), HasSubstr("policy.shares.cryo"));
  EXPECT_THAT(refusal_of(kSite + "policy: {shares: {cryo: much}}"),
              HasSubstr("policy.shares.cryo"));
  EXPECT_THAT(refusal_of(kSite + "policy: {shares: 3}"), HasSubstr("policy.shares"));
}

TEST(PolicySection, AnUnknownClassOrKeyIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(refusal_of(kSite + "policy: {classes: {urgnet: {qos: x}}}"),
              AllOf(HasSubstr("urgnet"), HasSubstr("'urgent'")));
  EXPECT_THAT(refusal_of(kSite + "policy: {classes: {urgent: {qoss: x}}}"),
              AllOf(HasSubstr("qoss"), HasSubstr("'qos'")));
  EXPECT_THAT(refusal_of(kSite + "policy: {classes: {urgent: {options: {array: 1-3}}}}"),
              HasSubstr("policy.classes.urgent.options.array"));
  EXPECT_THAT(refusal_of(kSite + "policy: {classes: {urgent: {nice: high}}}"),
              HasSubstr("policy.classes.urgent.nice"));
}

TEST(PolicySection, HowWideItsJobsAreIsNoOptionOfAClass) {
  for (const char* option : {"nodes: 4", "gres: gpu:2", "gpus: 8", "ntasks: 4"}) {
    const std::string yaml =
        kSite + "policy: {widths: fixed, classes: {high: {options: {" + option + "}}}}";
    EXPECT_THAT(refusal_of(yaml),
                AllOf(HasSubstr("policy.classes.high"), HasSubstr("slurm.shape")));
  }
  EXPECT_THAT(
      refusal_of(kSite + "policy: {widths: chosen, classes: {high: {options: {nodes: 4}}}}"),
      HasSubstr("remove nodes=4 from its options; its least and cap set the size of its jobs"));
  EXPECT_EQ(refusal_of(kSite + "policy: {classes: {high: {options: {gres: lscratch:10}}}}"),
            "not refused");
}

TEST(PolicySection, AFloorIsAShareOfTheGpusOfAllButUrgentItems) {
  const std::string chosen = kSite + "policy: {widths: chosen, classes: ";
  const Config usual = completed(kSite + "policy: {widths: chosen}");
  EXPECT_EQ(floors_of(usual), (std::map<db::Priority, double>{{db::Priority::kNormal, 0.10},
                                                              {db::Priority::kLow, 0.05}}));
  EXPECT_EQ(
      floors_of(completed(chosen + "{low: {floor: 0}, high: {floor: 0.2}}}")),
      (std::map<db::Priority, double>{{db::Priority::kHigh, 0.2}, {db::Priority::kNormal, 0.10}}));
  EXPECT_THAT(refusal_of(chosen + "{low: {floor: 5}}}"),
              AllOf(HasSubstr("policy.classes.low.floor"), HasSubstr("between 0 and 1")));
  EXPECT_THAT(refusal_of(chosen + "{low: {floor: 0.9}}}"), HasSubstr("add up to less than 1"));
  EXPECT_THAT(refusal_of(chosen + "{urgent: {floor: 0.1}}}"),
              HasSubstr("nothing waits above urgent items"));
  EXPECT_THAT(refusal_of(kSite + "policy: {widths: fixed, classes: {low: {floor: 0.1}}}"),
              HasSubstr("no effect while widths are fixed"));
}

TEST(PolicySection, ASegmentIsATimeOrNone) {
  const std::string chosen = kSite + "policy: {widths: chosen, segment: ";
  EXPECT_EQ(completed(chosen + "90m}").policy.segment, std::chrono::minutes(90));
  EXPECT_EQ(completed(chosen + "none}").policy.segment, std::chrono::minutes(0));
  EXPECT_EQ(completed(chosen + "0s}").policy.segment, std::chrono::minutes(0));
  EXPECT_THAT(refusal_of(chosen + "5s}"),
              AllOf(HasSubstr("policy.segment"), HasSubstr("at least 1m")));
  EXPECT_THAT(refusal_of(kSite + "policy: {widths: fixed, segment: 1h}"),
              HasSubstr("no effect while widths are fixed"));
}

TEST(PolicySection, WhoMayBeUrgentIsAListOfUsersAndGroups) {
  EXPECT_EQ(completed(kSite).policy.urgent_allow, std::nullopt);
  const PolicyOptions each = completed("policy: {urgent: {tokens: 5}}").policy;
  EXPECT_EQ(each.urgent_tokens.of_each, 5);
  EXPECT_EQ(each.urgent_allow, std::set<std::string>()) << "others need a token";
  const PolicyOptions some =
      completed("policy: {urgent: {tokens: {cryo: 3, guests: 0}, allow: [ann]}}").policy;
  EXPECT_EQ(some.urgent_tokens.of_group, (std::map<std::string, int>{{"cryo", 3}, {"guests", 0}}));
  EXPECT_EQ(some.urgent_allow, std::set<std::string>{"ann"});
  EXPECT_THAT(refusal_of("policy: {urgent: {tokens: -1}}"), HasSubstr("policy.urgent.tokens"));
  EXPECT_THAT(refusal_of("policy: {urgent: {tokens: {cryo: many}}}"),
              HasSubstr("policy.urgent.tokens.cryo"));
  EXPECT_EQ(completed("policy: {urgent: {allow: []}}").policy.urgent_allow,
            std::set<std::string>());
  EXPECT_EQ(completed("policy: {urgent: {allow: [ann, '@cryoem']}}").policy.urgent_allow,
            (std::set<std::string>{"ann", "@cryoem"}));
  EXPECT_THAT(refusal_of("policy: {urgent: {allow: ['@']}}"),
              AllOf(HasSubstr("policy.urgent.allow"), HasSubstr("@group")));
}

TEST(PolicySection, WithoutSlurmAClassHasNoOptions) {
  EXPECT_THAT(
      refusal_of("policy: {classes: {low: {qos: scavenger}}}"),
      AllOf(HasSubstr("policy.classes.low"), HasSubstr("remove them or set 'cluster: slurm'")));
}

}  // namespace
}  // namespace scheduler
