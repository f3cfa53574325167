#include "scheduler/simulate/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scheduler/simulate/trace_reader.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::HasSubstr;
using testing::Not;

Recorded recorded() {
  return {.title = "of a test",
          .nodes = 3,
          .gpus_per_node = 8,
          .max_jobs = 20,
          .max_pending = 5,
          .model = {.straggler_loss = {{1, 0}, {8, 0.02}}, .serial_seconds = 7, .sigma = 0.1},
          .segment = 1800,
          .classes = {{"urgent", {{"cap", "2 nodes"}, {"least_efficiency", "0.4"}}}},
          .items = {{.arrival = 0, .group = "ann", .work = 7200, .took = 9000},
                    {.arrival = 86400,
                     .priority = Priority::kUrgent,
                     .group = "bob",
                     .work = 1800,
                     .deadline_after = 600}}};
}

TEST(TraceWriter, WhatItWritesIsReadAsItWasRecorded) {
  const Trace trace = parse_trace(trace_yaml(recorded()), "trace.yaml");
  EXPECT_EQ(trace.nodes, 3);
  EXPECT_EQ(trace.config.slurm.gpus_per_node, 8);
  EXPECT_EQ(trace.config.slurm.max_jobs, 20);
  EXPECT_EQ(trace.config.slurm.max_pending, 5);
  EXPECT_EQ(trace.model.serial_seconds, 7);
  EXPECT_EQ(trace.model.sigma, 0.1);
  EXPECT_EQ(trace.model.straggler_loss.at(8), 0.02);
  EXPECT_EQ(trace.config.policy.segment, std::chrono::minutes(30));
  EXPECT_EQ(trace.config.policy.classes.at(Priority::kUrgent).cap, 2);
  EXPECT_EQ(trace.config.policy.classes.at(Priority::kUrgent).least_efficiency, 0.4);
  ASSERT_EQ(trace.items.size(), 2U);
  EXPECT_EQ(trace.items[0].work, 7200);
  EXPECT_EQ(trace.items[0].actual_work, 9000);
  EXPECT_FALSE(trace.items[0].deadline);
  EXPECT_EQ(trace.items[1].arrival, 86400);
  EXPECT_EQ(trace.items[1].priority, Priority::kUrgent);
  EXPECT_EQ(trace.items[1].actual_work, 1800);
  EXPECT_EQ(trace.items[1].deadline, 87000);
  EXPECT_NE(trace.items[0].group, trace.items[1].group);
}

TEST(TraceWriter, EqualItemsOneBehindAnotherAreOneEntry) {
  Recorded many = recorded();
  many.items.assign(1000, many.items.front());
  many.items.back().work = 3600;
  const std::string yaml = trace_yaml(many);
  EXPECT_THAT(yaml, HasSubstr("  - {count: 999, start: 0s, "));
  EXPECT_EQ(std::count(yaml.begin(), yaml.end(), '\n'), 14);
  EXPECT_EQ(parse_trace(yaml, "trace.yaml").items.size(), 1000U);
}

TEST(TraceWriter, ASearchOfAMomentIsRead) {
  Recorded brief = recorded();
  brief.items[0].took = 1e-4;
  brief.model.straggler_loss[8] = -0.01;
  const Trace trace = parse_trace(trace_yaml(brief), "trace.yaml");
  EXPECT_LT(trace.items[0].actual_work, 0.01);
  EXPECT_EQ(trace.model.straggler_loss.at(8), 0) << "below 0 by chance";
}

TEST(TraceWriter, AnyNameOfAGroupIsText) {
  Recorded odd = recorded();
  odd.items[0].group = "a\"b\\c\n: {\xFF\xC3\xA4#";
  const std::string yaml = trace_yaml(odd);
  EXPECT_THAT(yaml, Not(HasSubstr("\xFF")));
  EXPECT_EQ(parse_trace(yaml, "trace.yaml").items.size(), 2U);
}

TEST(TraceWriter, AHistoryMayBeLongerThanWhatPeopleWrite) {
  Recorded year = recorded();
  year.items.clear();
  for (int i = 0; i < 20'000; ++i) {
    year.items.push_back({.arrival = 330 * i, .group = "ann", .work = 7200, .took = 7000.0 + i});
  }
  EXPECT_EQ(parse_trace(trace_yaml(year), "trace.yaml").items.size(), 20'000U);
}

}  // namespace
}  // namespace scheduler
