// Jobs as real slurmrestds gave them, and their accounting.
#include "slurm/rest/json.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "base/json.h"
#include "tests/unit/slurm/recorded.h"

namespace slurm {
namespace {

using Json = nlohmann::json;

std::string words_in(const Json& job) {
  const Json& state = job.at("job_state");
  if (state.is_string()) return state;
  std::string words;
  for (const std::string word : state) words += (words.empty() ? "" : "+") + word;
  return words;
}

const std::map<std::string, JobState>& expected_states() {
  static const std::map<std::string, JobState> states = {
      {"PENDING", JobState::kPending},
      {"PENDING+COMPLETING", JobState::kPending},
      {"PENDING+SPECIAL_EXIT", JobState::kPending},
      {"RUNNING", JobState::kRunning},
      {"SUSPENDED", JobState::kRunning},
      {"COMPLETING", JobState::kCompleting},
      {"PREEMPTED+COMPLETING", JobState::kCompleting},
      {"COMPLETED", JobState::kCompleted},
      {"FAILED", JobState::kFailed},
      {"TIMEOUT", JobState::kTimeout},
      {"DEADLINE", JobState::kTimeout},
      {"NODE_FAIL", JobState::kNodeFail},
      {"PREEMPTED", JobState::kPreempted},
      {"CANCELLED", JobState::kCancelled},
  };
  return states;
}

// The first recorded job in that state, of that reason when one is given.
JobStatus job_in(const std::string& release, const std::string& words,
                 const std::string& reason = "") {
  for (const std::string& text : tests::recorded_jobs(release)) {
    const Json job = Json::parse(text);
    if (words_in(job) != words) continue;
    if (!reason.empty() && job.at("state_reason") != reason) continue;
    return parse_job(text).value();
  }
  throw std::runtime_error("no recorded job is " + words + " " + reason);
}

TEST(ParseJob, EveryRecordedStateIsUnderstood) {
  for (const std::string release : {"22.05", "24.11"}) {
    std::set<std::string> seen;
    for (const std::string& text : tests::recorded_jobs(release)) {
      const Json object = Json::parse(text);
      const std::string words = words_in(object);
      const auto job = parse_job(text);
      ASSERT_TRUE(job.has_value()) << text;
      EXPECT_EQ(job->state, expected_states().at(words)) << words;
      EXPECT_EQ(job->words, words);
      EXPECT_EQ(job->job_id, std::to_string(object.at("job_id").get<int>()));
      EXPECT_EQ(job->name, object.at("name"));
      EXPECT_GT(job->submit_time, 1'795'000'000);
      EXPECT_TRUE(job->gpus.has_value());
      seen.insert(words);
    }
    EXPECT_GE(seen.size(), 10u) << release;
  }
}

TEST(ParseJob, ARunningJobHasAHostAndAStartButNoEnd) {
  for (const std::string release : {"22.05", "24.11"}) {
    const JobStatus job = job_in(release, "RUNNING");
    EXPECT_EQ(job.host, "n01");
    EXPECT_GT(job.start_time, 1'795'000'000);
    EXPECT_EQ(job.end_time, 0);
    EXPECT_EQ(job.exit_code, std::nullopt);
    EXPECT_FALSE(job.held);
  }
}

TEST(ParseJob, AWideJobHasAllItsHosts) {
  for (const std::string release : {"22.05", "24.11"}) {
    EXPECT_EQ(job_in(release, "PREEMPTED").host, "n[01-08]");
  }
}

TEST(ParseJob, AForecastIsNoStart) {
  for (const std::string release : {"22.05", "24.11"}) {
    const JobStatus job = job_in(release, "PENDING", "Resources");
    EXPECT_EQ(job.start_time, 0);
    EXPECT_EQ(job.end_time, 0);
    EXPECT_EQ(job.gpus, 48);
    EXPECT_EQ(job.reason, "Resources");
  }
}

TEST(ParseJob, AHeldJobIsSeenAsHeld) {
  for (const std::string release : {"22.05", "24.11"}) {
    EXPECT_TRUE(job_in(release, "PENDING", "JobHeldUser").held) << release;
    EXPECT_FALSE(job_in(release, "PENDING", "BeginTime").held) << release;
    // Priority 0 as well, but it holds nodes.
    EXPECT_FALSE(job_in(release, "SUSPENDED").held) << release;
    EXPECT_FALSE(job_in(release, "CANCELLED", "JobHeldUser").held) << release;
  }
  EXPECT_TRUE(job_in("24.11", "PENDING+SPECIAL_EXIT").held);
}

TEST(ParseJob, TheEndIsACodeOrASignal) {
  EXPECT_EQ(job_in("22.05", "COMPLETED").exit_code, 0);
  EXPECT_EQ(job_in("24.11", "COMPLETED").exit_code, 0);
  EXPECT_EQ(job_in("22.05", "FAILED", "NonZeroExitCode").exit_code, 127);
  EXPECT_EQ(job_in("24.11", "FAILED", "NonZeroExitCode").exit_code, 7);
  EXPECT_EQ(job_in("22.05", "FAILED", "JobLaunchFailure").signal, 11);
  EXPECT_EQ(job_in("24.11", "FAILED", "RaisedSignal").signal, 12);
  EXPECT_EQ(job_in("24.11", "FAILED", "RaisedSignal").exit_code, std::nullopt);
  EXPECT_EQ(job_in("22.05", "TIMEOUT").signal, 15);
  EXPECT_EQ(job_in("24.11", "TIMEOUT").signal, 15);
  EXPECT_GT(job_in("22.05", "TIMEOUT").end_time, 1'795'000'000);
}

TEST(ParseJob, AJobThatNeverRanHasNoExitCode) {
  for (const std::string release : {"22.05", "24.11"}) {
    EXPECT_EQ(job_in(release, "CANCELLED", "PartitionDown").exit_code, std::nullopt);
    EXPECT_EQ(job_in(release, "PREEMPTED").exit_code, std::nullopt);
  }
}

TEST(ParseJob, ARequeueIsCounted) {
  EXPECT_EQ(job_in("22.05", "CANCELLED", "ReqNodeNotAvail").restarts, 1);
  EXPECT_EQ(job_in("24.11", "PENDING+COMPLETING").restarts, 1);
  EXPECT_EQ(job_in("24.11", "PENDING+SPECIAL_EXIT").restarts, 2);
}

TEST(ParseJob, TheReasonNamesTheNodes) {
  EXPECT_EQ(job_in("22.05", "PENDING", "ReqNodeNotAvail").reason.substr(0, 34),
            "ReqNodeNotAvail, UnavailableNodes:");
  EXPECT_EQ(job_in("24.11", "PENDING+SPECIAL_EXIT").reason,
            "JobHeldUser, job requeued in held state");
}

TEST(ParseJob, GpusAreCountedFromWhatTheSiteTracks) {
  const auto gpus = [](const std::string& fields) {
    return parse_job(R"({"job_id": 1, "job_state": ["PENDING"], )" + fields + "}").value().gpus;
  };
  EXPECT_EQ(gpus(R"("tres_req_str": "cpu=2,gres/gpu=4,gres/gpu:a100=4")"), 4);
  EXPECT_EQ(gpus(R"("tres_req_str": "cpu=2,gres/gpu:a100=4,gres/gpu:v100=2")"), 6);
  EXPECT_EQ(gpus(R"("tres_req_str": "cpu=1", "tres_per_job": "gres/gpu:8")"), 8);
  EXPECT_EQ(gpus(R"("tres_req_str": "cpu=1", "tres_per_node": "gres:gpu:a100:4",
                    "node_count": {"set": true, "number": 3})"),
            12);
  EXPECT_EQ(gpus(R"("tres_per_node": "gres/gpu", "node_count": 2)"), 2);
  EXPECT_EQ(gpus(R"("tres_per_node": "", "tres_per_task": "gres/gpu:2", "tasks": 4)"), 8);
  EXPECT_EQ(gpus(R"("tres_per_node": "gres/nvme:1", "tres_req_str": "cpu=1")"), 0);
  EXPECT_EQ(gpus(R"("tres_per_node": "gres/gpumem:1")"), 0);
  EXPECT_EQ(gpus(R"("cpus": 1)"), std::nullopt);
}

TEST(ParseJob, WhatIsNoJobIsNone) {
  for (const char* text : {"", "{}", "[]", "null", "{\"job_id\": 0}", "{\"job_id\": \"x\"}",
                           "{\"job_id\": 1", "{\"name\": \"a\"}", "7", "\"job\""}) {
    EXPECT_EQ(parse_job(text), std::nullopt) << text;
  }
  const auto strange = parse_job(R"({"job_id": 5, "job_state": ["NEWWORD"],
    "submit_time": 18446744073709551615, "restart_cnt": -5, "exit_code": [], "name": null})");
  ASSERT_TRUE(strange.has_value());
  EXPECT_EQ(strange->state, JobState::kUnknownAlive);
  EXPECT_EQ(strange->words, "NEWWORD");
  EXPECT_EQ(strange->submit_time, 0);
  EXPECT_EQ(strange->restarts, 0);
}

TEST(ParseJob, CutAndChangedJobsNeverThrow) {
  uint32_t seed = 7;
  const auto next = [&] { return seed = seed * 1664525u + 1013904223u; };
  for (const std::string release : {"22.05", "24.11"}) {
    for (const std::string& job : tests::recorded_jobs(release)) {
      for (size_t length = 0; length < job.size(); length += 97) {
        EXPECT_EQ(parse_job(job.substr(0, length)), std::nullopt);
      }
      for (int round = 0; round < 15; ++round) {
        std::string changed = job;
        for (uint32_t n = 0; n <= next() % 4; ++n) {
          changed[next() % changed.size()] = "{}[]\",:0-9nt\\\x80"[next() % 14];
        }
        EXPECT_NO_THROW(parse_job(changed));
      }
    }
  }
}

TEST(Accounting, AJobIsReadInBothReleases) {
  for (const std::string release : {"22.05", "24.11"}) {
    const auto jobs =
        parse_accounting_jobs(tests::recorded_answer(release, "accounting of one job").body);
    ASSERT_EQ(jobs.size(), 1u) << release;
    EXPECT_EQ(jobs[0].job_id, release == "22.05" ? "1" : "313");
    EXPECT_EQ(jobs[0].name, release == "22.05" ? "t1" : "ok");
    EXPECT_EQ(jobs[0].state, JobState::kCompleted);
    EXPECT_EQ(jobs[0].exit_code, 0);
    EXPECT_EQ(jobs[0].host, "n01");
    EXPECT_GT(jobs[0].submit_time, 1'795'000'000);
    EXPECT_GE(jobs[0].end_time, jobs[0].start_time);
    EXPECT_TRUE(
        parse_accounting_jobs(tests::recorded_answer(release, "accounting found nothing").body)
            .empty());
  }
}

TEST(Accounting, ACancellationThatNamesNobodyIsKnown) {
  const auto cancelled = [](const std::string& by) {
    return parse_accounting_jobs(R"({"jobs": [{"job_id": 5, "name": "a", )" + by +
                                 R"("state": {"current": "CANCELLED", "reason": "None"}}]})")
        .at(0)
        .cancelled_by_nobody;
  };
  // As 22.05 and 24.11 write it.
  EXPECT_TRUE(cancelled(R"("kill_request_user": null, )"));
  EXPECT_TRUE(cancelled(R"("kill_request_user": "", )"));
  EXPECT_FALSE(cancelled(R"("kill_request_user": "root", )"));
  EXPECT_FALSE(cancelled("")) << "a version that does not say";
}

TEST(Accounting, TheRunsOfARequeuedJobAreOneJob) {
  const std::string body = R"({"jobs": [
    {"job_id": 5, "name": "a", "time": {"submission": 100, "start": 110, "end": 120},
     "state": {"current": ["NODE_FAIL"], "reason": "None"}, "nodes": "n01"},
    {"job_id": 5, "name": "a", "time": {"submission": 120, "start": 0, "end": 0},
     "state": {"current": ["PENDING"], "reason": "BeginTime"}, "nodes": "None assigned"},
    {"job_id": 5, "name": "another", "time": {"submission": 50}, "state": {"current": "FAILED"}}
  ]})";
  const auto jobs = parse_accounting_jobs(body);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].state, JobState::kPending);
  EXPECT_EQ(jobs[0].restarts, 1);
  EXPECT_EQ(jobs[0].host, "");
  EXPECT_EQ(jobs[1].state, JobState::kFailed);
}

}  // namespace
}  // namespace slurm
