#include "scheduler/simulate/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/yaml_load.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string kSite = "site: {nodes: 16, gpus_per_node: 4}\n";
const std::string kOneItem = "items: [{work_gpu_hours: 16}]\n";

std::string refusal(const std::string& yaml) {
  try {
    parse_trace(yaml, "trace.yaml");
  } catch (const base::YamlError& error) {
    return error.what();
  }
  return "none";
}

TEST(TraceReader, ReadsSiteModelAndPolicy) {
  const Trace trace = parse_trace(
      "tick: 10s\n"
      "site: {nodes: 16, gpus_per_node: 8, max_jobs: 100, max_pending: 7}\n"
      "model:\n"
      "  serial_seconds: 5\n"
      "  start_up: {gpu: 1, node: 2, nodes: 3}\n"
      "  straggler: {1: 0, 64: 0.04}\n"
      "  sigma: 0.1\n"
      "policy: {classes: {urgent: {cap: 4 nodes}}}\n" +
          kOneItem,
      "trace.yaml");
  EXPECT_EQ(trace.nodes, 16);
  EXPECT_EQ(trace.tick, 10);
  EXPECT_EQ(trace.config.slurm.gpus_per_node, 8);
  EXPECT_EQ(trace.config.slurm.max_jobs, 100);
  EXPECT_EQ(trace.config.slurm.max_pending, 7);
  EXPECT_EQ(trace.config.policy.widths, WidthsBy::kChosen);
  EXPECT_EQ(trace.config.policy.classes.at(Priority::kUrgent).cap, 4);
  EXPECT_EQ(trace.model.serial_seconds, 5);
  EXPECT_EQ(trace.model.start_seconds_nodes, 3);
  EXPECT_EQ(trace.model.sigma, 0.1);
  EXPECT_THAT(trace.model.straggler_loss, ElementsAre(Pair(1, 0), Pair(64, 0.04)));
}

TEST(TraceReader, WhatIsNotGivenIsTheModelsAndTheDocumentedPolicy) {
  const Trace trace = parse_trace(kSite + kOneItem, "trace.yaml");
  EXPECT_EQ(trace.model.serial_seconds, RuntimeModel{}.serial_seconds);
  EXPECT_EQ(trace.tick, 1);
  ASSERT_EQ(trace.items.size(), 1U);
  EXPECT_EQ(trace.items[0].priority, Priority::kNormal);
  EXPECT_EQ(trace.items[0].work, 57600);
  EXPECT_EQ(trace.items[0].actual_work, 57600);
  EXPECT_FALSE(trace.items[0].deadline);
}

TEST(TraceReader, AnEntryMakesSeveralItemsOneBehindAnother) {
  const Trace trace = parse_trace(
      kSite +
          "items:\n"
          "  - {count: 3, start: 1m, every: 90s, class: low, work_gpu_hours: 2, group: a,\n"
          "     deadline_after: 1h}\n"
          "  - {start: 2m, class: urgent, work_gpu_hours: 1, group: b}\n",
      "trace.yaml");
  ASSERT_EQ(trace.items.size(), 4U);
  EXPECT_EQ(trace.items[0].arrival, 60);
  EXPECT_EQ(trace.items[0].deadline, 3660);
  EXPECT_EQ(trace.items[1].arrival, 120) << "in the order of arrival, whatever that of the file";
  EXPECT_EQ(trace.items[1].priority, Priority::kUrgent);
  EXPECT_EQ(trace.items[2].arrival, 150);
  EXPECT_EQ(trace.items[0].group, trace.items[2].group);
  EXPECT_NE(trace.items[0].group, trace.items[1].group);
}

TEST(TraceReader, ASpreadOfTheActualWorkDependsOnTheSeedAlone) {
  const std::string yaml = kSite + "items: [{count: 1000, work_gpu_hours: 2, spread: 0.2}]\n";
  const Trace one = parse_trace("seed: 7\n" + yaml, "trace.yaml");
  const Trace same = parse_trace("seed: 7\n" + yaml, "trace.yaml");
  const Trace other = parse_trace("seed: 8\n" + yaml, "trace.yaml");
  double log_sum = 0, squares = 0;
  for (size_t i = 0; i < one.items.size(); ++i) {
    EXPECT_EQ(one.items[i].actual_work, same.items[i].actual_work);
    EXPECT_EQ(one.items[i].work, 7200) << "that the policy expects";
    const double log = std::log(one.items[i].actual_work / 7200);
    log_sum += log;
    squares += log * log;
  }
  EXPECT_NE(one.items[0].actual_work, other.items[0].actual_work);
  EXPECT_NEAR(log_sum / 1000, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / 1000), 0.2, 0.02);
}

TEST(TraceReader, ReadsTheJobsThatRunAtTheBeginning) {
  const std::string yaml = kSite + kOneItem +
                           "running:\n"
                           "  - {nodes: 2, rest: 3h}\n"
                           "  - {count: 2, gpus: 3, rest: 90s}\n"
                           "  - {count: 10, rest_up_to: 1h}\n";
  const Trace trace = parse_trace(yaml, "trace.yaml");
  ASSERT_EQ(trace.running.size(), 13U);
  EXPECT_EQ(trace.running[0].width, (Width{.nodes = 2, .gpus_per_node = 4}));
  EXPECT_EQ(trace.running[0].rest, 10800);
  EXPECT_EQ(trace.running[2].width, (Width{.gpus_per_node = 3}));
  EXPECT_EQ(trace.running[2].rest, 90);
  const Trace same = parse_trace(yaml, "trace.yaml");
  const Trace other = parse_trace("seed: 2\n" + yaml, "trace.yaml");
  for (size_t i = 3; i < 13; ++i) {
    EXPECT_EQ(trace.running[i].width, Width{});
    EXPECT_GT(trace.running[i].rest, 0);
    EXPECT_LT(trace.running[i].rest, 3600);
    EXPECT_EQ(trace.running[i].rest, same.running[i].rest);
    EXPECT_NE(trace.running[i].rest, other.running[i].rest);
  }
}

TEST(TraceReader, RefusesRunningJobsThatHaveNoRoomOrNoEnd) {
  const auto refused = [](const std::string& entry) {
    return refusal(kSite + kOneItem + "running: [" + entry + "]\n");
  };
  EXPECT_THAT(refused("{count: 17, gpus: 3, rest: 1h}"),
              HasSubstr("'trace.yaml' line 3: running has more jobs than have room on 16 nodes "
                        "with 4 GPUs each"));
  EXPECT_THAT(refused("{gpus: 8, rest: 1h}"), HasSubstr("running has more jobs than have room"));
  EXPECT_THAT(refused("{gpus: 1, nodes: 1, rest: 1h}"),
              HasSubstr("running[0] has both gpus (of one node) and nodes (whole ones)"));
  EXPECT_THAT(refused("{count: 2}"), HasSubstr("running[0] needs either rest"));
  EXPECT_THAT(refused("{rest: 1h, rest_up_to: 1h}"), HasSubstr("running[0] needs either rest"));
  EXPECT_THAT(refused("{count: 2000000, rest: 1h}"), HasSubstr("running[0] has more jobs than"));
}

TEST(TraceReader, TakesOtherValuesForKeys) {
  const std::string yaml = kSite + "policy: {classes: {low: {cap: node}}}\n" + kOneItem;
  const Trace trace = parse_trace(yaml, "trace.yaml",
                                  {{.key = "site.nodes", .value = "18"},
                                   {.key = "policy.classes.urgent.cap", .value = "4 nodes"},
                                   {.key = "model.straggler.64", .value = "0.1"},
                                   {.key = "seed", .value = "5"}});
  EXPECT_EQ(trace.nodes, 18);
  EXPECT_EQ(trace.config.slurm.gpus_per_node, 4) << "what stands beside it stays";
  EXPECT_EQ(trace.config.policy.classes.at(Priority::kUrgent).cap, 4);
  EXPECT_EQ(trace.config.policy.classes.at(Priority::kLow).cap, 1);
  EXPECT_EQ(trace.model.straggler_loss.at(64), 0.1);
}

TEST(TraceReader, RefusesOtherValuesWithFileChangeAndKey) {
  const auto refused = [](const std::string& key, const std::string& value) {
    try {
      parse_trace(kSite + kOneItem, "trace.yaml", {{.key = key, .value = value}});
    } catch (const base::YamlError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(refused("site.nods", "18"),
            "'trace.yaml with site.nods=18': unknown key 'site.nods'; did you mean 'nodes'?");
  EXPECT_THAT(refused("polcy.classes.urgent.cap", "node"),
              HasSubstr("unknown key 'polcy'; did you mean 'policy'?"));
  EXPECT_EQ(refused("site.nodes", "many"),
            "'trace.yaml with site.nodes=many': site.nodes must be a number, but is 'many'");
  EXPECT_THAT(refused("policy.classes.urgent.cap", "4"),
              HasSubstr("policy.classes.urgent.cap must be gpu, node, a number of nodes"));
  EXPECT_THAT(refused("policy.classes.normal.cap", "gpu; least=node"), HasSubstr("must be gpu"));
  EXPECT_THAT(refused("items.count", "3"), HasSubstr("items must be a mapping"));
  EXPECT_THAT(refused("site.nodes.more", "3"), HasSubstr("site.nodes must be a mapping"));
  EXPECT_THAT(refused("policy.classes.low.least", "node"), HasSubstr("none"));
}

TEST(TraceReader, RefusesWithFileLineAndField) {
  EXPECT_THAT(refusal(kOneItem), AllOf(HasSubstr("'trace.yaml'"), HasSubstr("site is missing")));
  EXPECT_THAT(refusal(kSite), HasSubstr("items is missing"));
  EXPECT_THAT(refusal(kSite + "items: []\n"), HasSubstr("'trace.yaml' line 2: items has no items"));
  EXPECT_THAT(refusal(kSite + "items:\n  - {class: low}\n"),
              HasSubstr("'trace.yaml' line 3: items[0].work_gpu_hours is missing"));
  EXPECT_THAT(refusal(kSite + "items:\n  - {work_gpu_hours: -1}\n"),
              HasSubstr("line 3: items[0].work_gpu_hours must be greater than 0"));
  EXPECT_THAT(refusal(kSite + "items:\n  - {work_gpu_hours: 1, class: live}\n"),
              HasSubstr("items[0].class must be low, normal, high or urgent, not 'live'"));
  EXPECT_THAT(refusal(kSite + "items:\n  - {work_gpu_hours: 1, evry: 3m}\n"),
              HasSubstr("unknown key 'items[0].evry'"));
  EXPECT_THAT(refusal(kSite + "items:\n  - {work_gpu_hours: 1, every: soon}\n"),
              HasSubstr("items[0].every has an invalid duration 'soon'"));
  EXPECT_THAT(
      refusal(kSite + "items:\n  - {work_gpu_hours: 1, count: 3000000}\n"),
      HasSubstr("line 3: items[0] brings the trace to more than 2000000 items; lower count"));
  EXPECT_THAT(refusal(kSite + "items:\n  - {work_gpu_hours: 1e308}\n"),
              HasSubstr("items[0].work_gpu_hours must be at most 1e+06 GPU hours"));
  EXPECT_THAT(refusal(kSite + kOneItem + "model: {serial_seconds: 1e308}\n"),
              HasSubstr("model.serial_seconds must be at most 1e+06 s"));
  EXPECT_THAT(refusal(kSite + kOneItem + "model: {straggler: {4: 1e308}}\n"),
              HasSubstr("model.straggler.4 must be at most 1000"));
  EXPECT_THAT(refusal("site: {nodes: 0}\n" + kOneItem), HasSubstr("site.nodes must be at least 1"));
  EXPECT_THAT(refusal("site: {nodes: 2000000, gpus_per_node: 2}\n" + kOneItem),
              HasSubstr("line 1: site is too large"));
  EXPECT_THAT(refusal(kSite + kOneItem + "policy: {shares: {kim: 2}}\n"),
              HasSubstr("policy has shares, but a simulation does not share the GPUs"));
  EXPECT_THAT(refusal(kSite + kOneItem + "model: {straggler: {four: 1}}\n"),
              HasSubstr("model.straggler.four must be a number of GPUs"));
  EXPECT_THAT(refusal(kSite + kOneItem + "policy: {classes: {low: {cap: gpu, least: node}}}\n"),
              AllOf(HasSubstr("'trace.yaml'"), HasSubstr("policy.classes.low: its cap is 1 GPU")));
}

}  // namespace
}  // namespace scheduler
