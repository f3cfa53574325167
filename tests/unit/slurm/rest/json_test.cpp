// Jobs and listings as real slurmrestds gave them.
#include "slurm/rest/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

std::map<std::string, std::string> states_of(const std::string& body) {
  std::map<std::string, std::string> states;
  for (const auto& [name, partition] : parse_partitions(body)) states[name] = partition.state;
  return states;
}

// As the document of v0.0.42 has it.
constexpr const char* kLaterPartitions = R"({"partitions": [
    {"name": "main", "nodes": {"total": 16}, "partition": {"state": ["UP"]},
     "accounts": {"allowed": "research,physics", "deny": ""}, "qos": {"allowed": "", "deny": "low", "assigned": "gpu"},
     "maximums": {"time": {"set": true, "infinite": false, "number": 5},
                  "nodes": {"set": true, "infinite": false, "number": 4},
                  "cpus_per_node": {"set": false, "infinite": true, "number": 0}}},
    {"name": "long", "nodes": {"total": 1}, "partition": {"state": ["DRAIN"]},
     "maximums": {"time": {"set": false, "infinite": true, "number": 0}}}]})";

TEST(Facts, PartitionsAreReadInBothShapes) {
  using Partitions = std::map<std::string, std::string>;
  EXPECT_EQ(states_of(tests::recorded_answer("22.05", "partitions").body),
            (Partitions{{"main", "UP"}, {"short", "UP"}, {"closed", "DOWN"}}));
  EXPECT_EQ(states_of(kLaterPartitions), (Partitions{{"main", "UP"}, {"long", "DRAIN"}}));
}

TEST(Facts, LimitsOfPartitionsAreReadInBothShapes) {
  const auto old = parse_partitions(tests::recorded_answer("22.05", "partitions").body);
  EXPECT_TRUE(old.at("main").is_default);
  EXPECT_FALSE(old.at("short").is_default);
  EXPECT_EQ(old.at("main").most_minutes, std::nullopt);
  EXPECT_EQ(old.at("main").most_nodes, std::nullopt);
  EXPECT_EQ(old.at("main").nodes, 16);
  EXPECT_EQ(old.at("main").accounts, Names{});
  EXPECT_EQ(old.at("short").most_minutes, 5);
  EXPECT_EQ(old.at("short").most_nodes, 4);
  const auto later = parse_partitions(kLaterPartitions);
  EXPECT_EQ(later.at("main").most_minutes, 5);
  EXPECT_EQ(later.at("main").most_nodes, 4);
  EXPECT_EQ(later.at("main").most_cpus, std::nullopt);
  EXPECT_EQ(later.at("main").nodes, 16);
  EXPECT_EQ(later.at("main").accounts, (Names{"physics", "research"}));
  EXPECT_EQ(later.at("main").denied_qos, Names{"low"});
  EXPECT_EQ(later.at("main").own_qos, "gpu");
  EXPECT_EQ(later.at("long").most_minutes, std::nullopt);
}

TEST(Facts, NodesAndTheirGpusAreCounted) {
  const NodeTotals old = parse_node_totals(tests::recorded_answer("22.05", "nodes").body);
  EXPECT_EQ(old.nodes, 2);
  EXPECT_EQ(old.gpus, 8);
  EXPECT_EQ(old.each.at(0).cpus, 16);
  EXPECT_EQ(old.each.at(0).memory_mb, 64'000);
  EXPECT_EQ(old.each.at(0).gpus, 4);
  EXPECT_EQ(old.each.at(0).partitions, (Names{"closed", "main", "short"}));
  const NodeTotals later = parse_node_totals(R"({"nodes": [
    {"name": "n01", "state": ["IDLE", "DRAIN"], "gres": "gpu:a100:4(S:0-1),nvme:1"},
    {"name": "n02", "state": ["DOWN"], "gres": ""}]})");
  EXPECT_EQ(later.nodes, 2);
  EXPECT_EQ(later.gpus, 4);
}

TEST(Facts, QosAreReadWithTheirLimits) {
  for (const std::string release : {"22.05", "24.11"}) {
    const QosByName all = parse_qos(tests::recorded_answer(release, "qos with limits").body);
    ASSERT_EQ(all.size(), 2U) << release;
    const JobLimits none = all.at("normal").limits;
    EXPECT_EQ(none.most_minutes, std::nullopt);
    EXPECT_EQ(none.most_submitted, std::nullopt);
    EXPECT_TRUE(none.of_job.empty() && none.of_node.empty() && none.of_user.empty());
    const QosFacts& brief = all.at("brief");
    EXPECT_EQ(brief.limits.most_minutes, 2) << release;
    EXPECT_EQ(brief.limits.of_job, (Tres{{"cpu", 8}, {"mem", 8192}, {"node", 1}, {"gres/gpu", 2}}));
    EXPECT_EQ(brief.limits.of_node, (Tres{{"cpu", 4}}));
    EXPECT_EQ(brief.limits.of_user, (Tres{{"cpu", 16}, {"gres/gpu", 4}}));
    EXPECT_EQ(brief.limits.of_all, (Tres{{"node", 3}, {"gres/gpu", 8}}));
    EXPECT_EQ(brief.limits.most_submitted, 5);
    EXPECT_TRUE(brief.lifts_time && brief.lifts_nodes && brief.over_partition) << release;
    EXPECT_FALSE(all.at("normal").over_partition);
  }
}

TEST(Facts, AssociationsOfTheUserAndOfAccountsAreReadWithTheirLimits) {
  for (const std::string release : {"22.05", "24.11"}) {
    const std::string body = tests::recorded_answer(release, "associations").body;
    const AssociationFacts facts = parse_associations(body, "nobody");
    EXPECT_EQ(facts.default_account, "research") << release;
    EXPECT_EQ(accounts_of(facts, "nobody"), (Names{"lab", "research"}));
    EXPECT_EQ(accounts_of(facts, "games"), Names{}) << "another user's";
    EXPECT_EQ(clusters_of(facts), (Names{"bed"}));
    const auto of = [&](const std::string& account, const std::string& user) {
      return *std::find_if(facts.all.begin(), facts.all.end(), [&](const Association& one) {
        return one.account == account && one.user == user;
      });
    };
    EXPECT_EQ(of("lab", "").parent, "research");
    EXPECT_EQ(of("lab", "").limits.most_minutes, 60);
    EXPECT_EQ(of("lab", "").limits.of_all, (Tres{{"gres/gpu", 2}}));
    const Association own = of("lab", "nobody");
    EXPECT_EQ(own.partition, "main");
    EXPECT_EQ(own.qos, (Names{"brief", "normal"}));
    EXPECT_EQ(own.limits.most_minutes, 1450);
    EXPECT_EQ(own.limits.of_job, (Tres{{"cpu", 4}}));
    EXPECT_EQ(own.limits.of_all, (Tres{{"cpu", 9}, {"mem", 1048576}}));
    EXPECT_EQ(own.limits.most_submitted, 7);
    EXPECT_EQ(of("research", "nobody").default_qos, "normal");
    EXPECT_EQ(of("research", "nobody").limits.most_submitted, std::nullopt);
  }
}

TEST(Facts, OfSeveralClustersOnlyTheOneThatTheAnswerNamesCounts) {
  const std::string two = R"("associations": [
    {"cluster": "a", "account": "lab", "user": "alice", "is_default": true},
    {"cluster": "b", "account": "far", "user": "alice", "is_default": true}]})";
  const AssociationFacts named =
      parse_associations(R"({"meta": {"slurm": {"cluster": "a"}}, )" + two, "alice");
  EXPECT_EQ(accounts_of(named, "alice"), (Names{"lab"}));
  EXPECT_EQ(named.default_account, "lab");
  EXPECT_EQ(clusters_of(parse_associations("{" + two, "alice")), (Names{"a", "b"}));
}

TEST(Facts, TheReleaseIsReadFromAnyAnswer) {
  EXPECT_EQ(slurm_release(tests::recorded_answer("22.05", "ping").body), "22.05.8");
  EXPECT_EQ(slurm_release(tests::recorded_answer("24.11", "ping").body), "24.11.5");
  EXPECT_EQ(slurm_release("Authentication failure"), "");
}

struct Read {
  std::vector<std::string> jobs;
  bool whole = false;
  std::string rest;
};

Read read(const std::vector<std::string>& pieces) {
  Read result;
  JobListing listing([&](const std::string& job) { result.jobs.push_back(job); });
  for (const std::string& piece : pieces) listing.feed(piece);
  result.whole = listing.whole();
  result.rest = listing.rest();
  return result;
}

const char* const kListing = R"({ "meta": {"slurm": {"release": "24.11.5"}, "jobs": ["no"]},
  "a": "jobs", "errors": [], "jobs": [ {"job_id": 1, "name": "a}]\"{[", "more": {"x": [1, {}]}},
  {"job_id": 2, "name": "\\"} , {"job_id":3}], "last_update": {"number": 5}, "warnings": []}
)";

TEST(JobListing, WherePiecesEndDoesNotMatter) {
  const std::string listing = kListing;
  const Read whole = read({listing});
  ASSERT_EQ(whole.jobs.size(), 3u);
  EXPECT_TRUE(whole.whole);
  EXPECT_EQ(Json::parse(whole.jobs[0]).at("name"), "a}]\"{[");
  EXPECT_EQ(Json::parse(whole.jobs[1]).at("name"), "\\");
  std::vector<std::string> bytes;
  for (const char c : listing) bytes.emplace_back(1, c);
  EXPECT_EQ(read(bytes).jobs, whole.jobs);
  for (size_t at = 0; at <= listing.size(); ++at) {
    const Read two = read({listing.substr(0, at), listing.substr(at)});
    ASSERT_EQ(two.jobs, whole.jobs) << at;
    ASSERT_TRUE(two.whole) << at;
    ASSERT_EQ(two.rest, whole.rest) << at;
  }
}

TEST(JobListing, TheRestIsTheDocumentWithoutJobs) {
  const Json rest = Json::parse(read({kListing}).rest);
  EXPECT_EQ(rest.at("jobs"), Json::array());
  EXPECT_EQ(rest.at("last_update").at("number"), 5);
  EXPECT_EQ(slurm_release(read({kListing}).rest), "24.11.5");
}

TEST(JobListing, ACutListingIsNeverWhole) {
  const std::string listing = kListing;
  const size_t end = listing.rfind('}');
  for (size_t length = 0; length <= end; ++length) {
    ASSERT_FALSE(read({listing.substr(0, length)}).whole) << length;
  }
}

TEST(JobListing, RecordedListingsSurviveEveryCut) {
  for (const std::string release : {"22.05", "24.11"}) {
    const std::string listing = tests::recorded_text(release + "/jobs.json");
    const Read whole = read({listing});
    ASSERT_TRUE(whole.whole);
    EXPECT_EQ(whole.jobs.size(), Json::parse(listing).at("jobs").size());
    // Every byte would take minutes: the short listing above is cut at each.
    for (size_t at = 0; at <= listing.size(); at += 1009) {
      ASSERT_EQ(read({listing.substr(0, at), listing.substr(at)}).jobs, whole.jobs) << at;
    }
  }
}

TEST(JobListing, ADocumentWithoutJobsIsNotWhole) {
  EXPECT_FALSE(read({R"({"errors": []})"}).whole);
  EXPECT_FALSE(read({R"({"jobs": null})"}).whole);
  EXPECT_FALSE(read({R"({"jobs": {}})"}).whole);
  EXPECT_FALSE(read({R"({"meta": {"jobs": []}})"}).whole);
  EXPECT_FALSE(read({R"([{"jobs": []}])"}).whole);
  EXPECT_FALSE(read({"Authentication failure"}).whole);
  EXPECT_FALSE(read({R"({"jobs": []} {)"}).whole);
  EXPECT_FALSE(read({R"({"jobs": [null]})"}).whole);
  EXPECT_FALSE(read({R"({"jobs": [[{}]]})"}).whole);
  EXPECT_TRUE(read({R"({"jobs": []})"}).whole);
}

TEST(JobListing, AnObjectBeyondAnySenseIsRefused) {
  JobListing listing([](const std::string&) {});
  listing.feed(R"({"jobs": [{"x": ")");
  const std::string piece(1 << 20, 'x');
  EXPECT_THROW(
      {
        for (int i = 0; i < 20; ++i) listing.feed(piece);
      },
      std::runtime_error);
}

}  // namespace
}  // namespace slurm
