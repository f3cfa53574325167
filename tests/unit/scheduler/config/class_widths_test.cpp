#include "scheduler/config/class_widths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/config/config_reader.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::AllOf;
using testing::HasSubstr;

Config site(const std::string& slurm, const std::string& classes = "") {
  Config config = parse_config("cluster: slurm\nslurm: {transport: cli, nodes: 8" + slurm +
                                   "}\npolicy: {widths: chosen, classes: {" + classes + "}}\n",
                               "margayd.yaml");
  config.state = "/tmp/state";
  complete_config(config, "/opt/bin");
  return config;
}

std::string refusal_of_site(const std::string& slurm, const std::string& classes) {
  try {
    site(slurm, classes);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

void expect(const ClassWidths& widths, const std::string& least, const std::string& cap,
            const std::string& deadline_cap) {
  EXPECT_EQ(to_string(widths.least), least);
  EXPECT_EQ(to_string(widths.cap), cap);
  EXPECT_EQ(to_string(widths.deadline_cap), deadline_cap);
}

TEST(ClassWidths, WithoutAShapeTheyAreThoseOfThePolicy) {
  auto widths = class_widths_of(site(""));
  expect(widths[Priority::kLow], "1 GPU", "1 GPU", "1 node (4 GPUs)");
  expect(widths[Priority::kNormal], "1 GPU", "1 node (4 GPUs)", "1 node (4 GPUs)");
  expect(widths[Priority::kHigh], "1 GPU", "1 node (4 GPUs)", "4 nodes (16 GPUs)");
  EXPECT_EQ(widths[Priority::kUrgent].least, Width{});
  EXPECT_EQ(widths[Priority::kUrgent].cap.nodes, kMostNodes) << "all that there are";
  EXPECT_EQ(widths[Priority::kLow].least_efficiency, 0.98);
  EXPECT_EQ(widths[Priority::kUrgent].least_efficiency, 0.50);
}

TEST(ClassWidths, AnOldConfigurationSaysWhatItMeans) {
  const auto meant = [](const std::string& slurm, const std::string& policy = "") {
    return widths_text(parse_config(
        "cluster: slurm\nslurm: {transport: cli, nodes: 8" + slurm + "}\n" + policy, "x.yaml"));
  };
  EXPECT_THAT(meant(""), AllOf(HasSubstr("urgent 1 GPU to all nodes"), HasSubstr("low 1 GPU "),
                               HasSubstr("normal 1 GPU to 1 node (4 GPUs)"),
                               HasSubstr("set policy.widths to fixed")));
  EXPECT_THAT(meant(", shape: node, urgent_shape: nodes"),
              AllOf(HasSubstr("normal 1 node (4 GPUs), "),
                    HasSubstr("urgent 1 node (4 GPUs) to 8 nodes (32 GPUs)"),
                    HasSubstr("slurm.shape fixes those of all but urgent items"),
                    HasSubstr("slurm.urgent_shape is the most of urgent ones")));
  EXPECT_EQ(meant("", "policy: {widths: fixed}\n"), "");
  EXPECT_EQ(meant(", shape: cpu"), "");
}

TEST(ClassWidths, AShapeIsWhatAllButUrgentItemsGet) {
  auto widths = class_widths_of(site(", shape: node, urgent_shape: nodes"));
  for (const Priority priority : {Priority::kLow, Priority::kNormal, Priority::kHigh}) {
    expect(widths[priority], "1 node (4 GPUs)", "1 node (4 GPUs)", "1 node (4 GPUs)");
  }
  expect(widths[Priority::kUrgent], "1 node (4 GPUs)", "8 nodes (32 GPUs)", "8 nodes (32 GPUs)");
  widths = class_widths_of(site(", shape: gpu"));
  expect(widths[Priority::kUrgent], "1 GPU", "1 GPU", "1 GPU");
}

TEST(ClassWidths, AClassSaysItsOwn) {
  auto widths =
      class_widths_of(site(", shape: gpu",
                           "low: {least: node}, high: {cap: node, deadline_cap: 4 nodes, "
                           "least_efficiency: 0.6}, urgent: {least: 2 nodes, cap: 6 nodes}"));
  expect(widths[Priority::kLow], "1 node (4 GPUs)", "1 node (4 GPUs)", "1 node (4 GPUs)");
  expect(widths[Priority::kHigh], "1 GPU", "1 node (4 GPUs)", "4 nodes (16 GPUs)");
  EXPECT_EQ(widths[Priority::kHigh].least_efficiency, 0.6);
  expect(widths[Priority::kUrgent], "2 nodes (8 GPUs)", "6 nodes (24 GPUs)", "6 nodes (24 GPUs)");
  expect(class_widths_of(site("", "urgent: {cap: all}"))[Priority::kHigh], "1 GPU",
         "1 node (4 GPUs)", "4 nodes (16 GPUs)");
}

TEST(ClassWidths, WhatContradictsItselfIsRefused) {
  EXPECT_THAT(refusal_of_site(", shape: node", "low: {cap: gpu}"),
              AllOf(HasSubstr("policy.classes.low"), HasSubstr("cap is 1 GPU"),
                    HasSubstr("raise cap or lower least (by default slurm.shape)")));
  EXPECT_THAT(refusal_of_site("", "high: {cap: 8 nodes, deadline_cap: node}"),
              AllOf(HasSubstr("policy.classes.high"), HasSubstr("deadline_cap is 1 node"),
                    HasSubstr("raise deadline_cap or lower cap")));
  EXPECT_THAT(refusal_of_site("", "high: {cap: 4}"),
              AllOf(HasSubstr("policy.classes.high.cap"), HasSubstr("'4 nodes'")));
  EXPECT_THAT(refusal_of_site("", "high: {least_efficiency: 2}"),
              HasSubstr("policy.classes.high.least_efficiency"));
}

TEST(ClassWidths, AreOnlyForASiteThatHasThemChosen) {
  Config config = site("");
  config.policy.widths = WidthsBy::kFixed;
  EXPECT_TRUE(class_widths_of(config).empty());
  try {
    Config fixed =
        parse_config("policy: {widths: fixed, classes: {low: {cap: node}}}", "margayd.yaml");
    fixed.state = "/tmp/state";
    complete_config(fixed, "/opt/bin");
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("policy.classes.low"), HasSubstr("policy.widths")));
  }
}

TEST(ClassWidths, OnProcessorsThereIsNothingToChoose) {
  EXPECT_TRUE(class_widths_of(site(", shape: cpu")).empty());
  EXPECT_TRUE(class_widths_of(Config{}).empty());
}

TEST(ClassWidths, TheMenuHasWhatTheConfigurationNames) {
  const auto menu = menu_of(site("", "urgent: {cap: 6 nodes}"));
  ASSERT_GT(menu.size(), 6U);
  EXPECT_EQ(menu[0], Width{});
  EXPECT_EQ(to_string(menu[1]), "1 node (4 GPUs)");
  EXPECT_EQ(to_string(menu[4]), "6 nodes (24 GPUs)");
  EXPECT_EQ(to_string(menu[5]), "8 nodes (32 GPUs)");
}

}  // namespace
}  // namespace scheduler
