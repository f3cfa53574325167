// The fake slurmrestd answers as the real ones that were recorded, and runs what it is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fakes/fake_slurmrestd_fixture.h"

namespace tests {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

json shape_of(const json& value) {
  json shape;
  switch (value.type()) {
    case json::value_t::object:
      shape = json::object();
      for (const auto& [key, inner] : value.items()) shape[key] = shape_of(inner);
      return shape;
    case json::value_t::array:
      shape = json::array();
      if (!value.empty()) shape.push_back(shape_of(value.front()));
      return shape;
    default:
      return value.is_number() ? "number" : value.type_name();
  }
}

// A recorded exchange, and what must be so that Slurm answers like that.
struct Recording {
  std::string release;
  std::string name;
  std::string faults{};
  std::string token = kGoodToken;
  std::string user = "alice";
  std::string content_type = "application/json";
};

std::string readable(const ::testing::TestParamInfo<Recording>& recording) {
  std::string name = recording.param.release + recording.param.name;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}

class AsRecorded : public FakeSlurmrestdTest, public ::testing::WithParamInterface<Recording> {};

TEST_P(AsRecorded, TheFakeAnswersWithTheSameStatusFieldsAndErrors) {
  const Recording& when = GetParam();
  const RecordedAnswer recorded = FakeAnswers(when.release).recorded(when.name);
  start(when.faults, {.release = when.release});
  std::multimap<std::string, std::string> headers;
  if (!when.token.empty()) headers.emplace("X-SLURM-USER-TOKEN", when.token);
  if (!when.user.empty()) headers.emplace("X-SLURM-USER-NAME", when.user);
  const std::string body = recorded.request.is_string() ? recorded.request.get<std::string>()
                           : recorded.request.is_null() ? ""
                                                        : recorded.request.dump();
  const ClientAnswer answer =
      ask(fake_->url(), recorded.method, recorded.path, headers, body, when.content_type);
  EXPECT_EQ(answer.status, recorded.status) << answer.body;
  if (recorded.answer.is_string()) {
    EXPECT_EQ(answer.body, recorded.answer.get<std::string>());
    return;
  }
  EXPECT_EQ(shape_of(answer.json()), shape_of(recorded.answer)) << answer.body;
  EXPECT_EQ(answer.json()["errors"], recorded.answer["errors"]);
  EXPECT_EQ(answer.json()["meta"], recorded.answer["meta"]);
}

INSTANTIATE_TEST_SUITE_P(
    Slurm, AsRecorded,
    ::testing::Values(
        Recording{"22.05", "ping"}, Recording{"22.05", "diag"}, Recording{"22.05", "jobs_none"},
        Recording{"22.05", "partitions"}, Recording{"22.05", "submit"},
        Recording{"22.05", "submit_held"}, Recording{"22.05", "job_unknown"},
        Recording{"22.05", "job_bad_id"}, Recording{"22.05", "no_auth", "", "", ""},
        Recording{"22.05", "no_user", "", kGoodToken, ""},
        Recording{"22.05", "token_jobs", "", "another"},
        Recording{"22.05", "token_submit", "", "another"},
        Recording{"22.05", "token_ping", "", "another"}, Recording{"22.05", "malformed"},
        Recording{"22.05", "empty"},
        Recording{"22.05", "no_content_type", "", kGoodToken, "alice", ""},
        Recording{"22.05", "unknown_url"}, Recording{"22.05", "unknown_version"},
        Recording{"22.05", "wrong_method"}, Recording{"22.05", "accounting_none"},
        Recording{"22.05", "hung_submit", "submit 1: hung"},
        Recording{"22.05", "down_ping", "any 1+: controller-down"},
        Recording{"22.05", "down_jobs", "any 1+: controller-down"},
        Recording{"22.05", "down_job", "any 1+: controller-down"},
        Recording{"22.05", "down_delete", "any 1+: controller-down"},
        Recording{"22.05", "down_submit", "any 1+: controller-down"}, Recording{"24.11", "ping"},
        Recording{"24.11", "submit_v0.0.40"}, Recording{"24.11", "submit_v0.0.41"},
        Recording{"24.11", "submit_v0.0.42"}, Recording{"24.11", "no_auth", "", "", ""},
        Recording{"24.11", "token_jobs", "", "another"},
        Recording{"24.11", "token_submit", "", "another"},
        Recording{"24.11", "token_ping", "", "another"}, Recording{"24.11", "malformed"},
        Recording{"24.11", "no_content_type", "", kGoodToken, "alice", ""},
        Recording{"24.11", "unknown_url"}, Recording{"24.11", "unknown_version"},
        Recording{"24.11", "wrong_method"}, Recording{"24.11", "job_unknown"},
        Recording{"24.11", "delete_unknown"}, Recording{"24.11", "job_bad_id"},
        Recording{"24.11", "accounting_none"}, Recording{"24.11", "hung_submit", "submit 1: hung"},
        Recording{"24.11", "hung_jobs", "list 1: hung"},
        Recording{"24.11", "down_jobs", "any 1+: controller-down"},
        Recording{"24.11", "down_submit", "any 1+: controller-down"}),
    readable);

TEST_F(FakeSlurmrestdTest, AHeldJobIsShownWithTheFieldsOfTheRecordedOne) {
  start();
  const std::string id = id_of(submit("held", "true", {{"hold", true}}));
  json expected = FakeAnswers("22.05").recorded("job").answer["jobs"][0];
  expected.erase("job_resources");
  EXPECT_EQ(shape_of(job(id)), shape_of(expected));
  EXPECT_EQ(job(id)["state_reason"], "JobHeldUser");
  EXPECT_EQ(job(id)["priority"], 0);
}

TEST_F(FakeSlurmrestdTest, ARunningJobIsShownWithTheFieldsOfTheRecordedOne) {
  start("", {.release = "24.11"});
  const std::string id = id_of(submit("runs", "sleep 60", {{"tres_per_node", "gres/gpu:2"}}));
  ASSERT_TRUE(becomes_true([&] { return job(id)["job_state"] == json{"RUNNING"}; }));
  for (const char* version : {"v0.0.40", "v0.0.41", "v0.0.42"}) {
    const json expected =
        FakeAnswers("24.11").recorded(std::string("job_") + version).answer["jobs"][0];
    const json shown =
        call("GET", "/slurm/" + std::string(version) + "/job/" + id).json()["jobs"][0];
    EXPECT_EQ(shape_of(shown), shape_of(expected)) << version;
    EXPECT_EQ(shown["tres_per_node"], "gres/gpu:2");
  }
}

TEST_F(FakeSlurmrestdTest, AScriptRunsOnceWithWhatItWasGivenAndSlurmsOwnEnvironment) {
  start();
  const std::string id =
      id_of(submit("envs", "env; pwd; exit 3", {{"gres", "gpu:2"}, {"nodes", "2"}}));
  ASSERT_TRUE(becomes(id, "FAILED"));
  EXPECT_EQ(job(id)["exit_code"], 3 << 8);
  EXPECT_EQ(job(id)["state_reason"], "NonZeroExitCode");
  EXPECT_EQ(job(id)["nodes"], "n[01-02]");
  const std::string log = log_of("envs");
  EXPECT_THAT(log, AllOf(HasSubstr("MINE=yes\n"), HasSubstr("SLURM_JOB_ID=" + id + "\n"),
                         HasSubstr("SLURM_JOB_NAME=envs\n"), HasSubstr("SLURM_NNODES=2\n"),
                         HasSubstr("CUDA_VISIBLE_DEVICES=0,1\n"), HasSubstr(scratch_.path())));
  EXPECT_THAT(log, Not(HasSubstr("HOME=")));
  EXPECT_THAT(log, Not(HasSubstr("RESTART")));
}

TEST_F(FakeSlurmrestdTest, AHeldJobIsAcceptedWithAnErrorBesideItsIdAndStartsWhenReleased) {
  start();
  const ClientAnswer held = submit("held", "true", {{"hold", true}});
  EXPECT_EQ(held.status, 200);
  EXPECT_EQ(held.json()["errors"][0]["error_code"], 2042);
  const std::string other = id_of(submit("other", "true"));
  ASSERT_TRUE(becomes(other, "COMPLETED"));
  EXPECT_EQ(job(id_of(held))["job_state"], "PENDING");
  EXPECT_EQ(call("POST", at("job/" + id_of(held)), R"({"hold":false})").status, 200);
  EXPECT_TRUE(becomes(id_of(held), "COMPLETED"));
}

TEST_F(FakeSlurmrestdTest, ACancelledJobGetsSigtermAndThenSigkill) {
  start();
  const std::string id =
      id_of(submit("stubborn", "trap 'echo asked' TERM; echo up; while true; do sleep 0.02; done"));
  ASSERT_TRUE(becomes_true([&] { return log_of("stubborn") == "up\n"; }));
  EXPECT_EQ(call("DELETE", at("job/" + id)).status, 200);
  ASSERT_TRUE(becomes(id, "CANCELLED"));
  EXPECT_EQ(job(id)["exit_code"], 9);
  EXPECT_THAT(log_of("stubborn"), HasSubstr("asked"));
  EXPECT_EQ(call("DELETE", at("job/" + id)).status, 200) << "what has ended has nothing to stop";
  EXPECT_EQ(call("DELETE", at("job/77")).status, 500);
}

TEST_F(FakeSlurmrestdTest, ASignalReachesTheStepAndNotTheScript) {
  start();
  const std::string id = id_of(submit("stepped",
                                      "trap 'echo script' USR1\n"
                                      "srun --ntasks=1 bash -c 'trap \"echo step; exit 85\" USR1; "
                                      "echo up; while true; do sleep 0.02; done'\n"
                                      "exit $?"));
  ASSERT_TRUE(becomes_true([&] { return log_of("stepped") == "up\n"; }));
  EXPECT_EQ(call("DELETE", at("job/" + id + "?signal=USR1")).status, 200);
  ASSERT_TRUE(becomes(id, "FAILED"));
  EXPECT_EQ(job(id)["exit_code"], 85 << 8);
  EXPECT_THAT(log_of("stepped"), AllOf(HasSubstr("step"), Not(HasSubstr("script"))));
}

TEST_F(FakeSlurmrestdTest, TheLimitOfTimeIsWarnedOfAndThenKept) {
  FakeSlurmrestdOptions options;
  options.cluster.minute = milliseconds(600);
  start("", options);
  const std::string id = id_of(submit("long",
                                      "srun bash -c 'trap \"echo warned\" USR1; "
                                      "while true; do sleep 0.02; done'",
                                      {{"time_limit", 1}, {"signal", "USR1@30"}}));
  ASSERT_TRUE(becomes(id, "TIMEOUT"));
  EXPECT_THAT(log_of("long"), HasSubstr("warned"));
}

TEST_F(FakeSlurmrestdTest, ASingletonWaitsForItsNamesake) {
  start();
  const std::string first = id_of(submit("one", "while [ ! -e go ]; do sleep 0.02; done"));
  const std::string second = id_of(submit("one", "true", {{"dependency", "singleton"}}));
  ASSERT_TRUE(becomes(first, "RUNNING"));
  ASSERT_TRUE(becomes_true([&] { return job(second)["state_reason"] == "Dependency"; }));
  scratch_.write("go", "");
  ASSERT_TRUE(becomes(second, "COMPLETED"));
  EXPECT_GE(job(second)["start_time"], job(first)["end_time"]);
}

TEST_F(FakeSlurmrestdTest, NoMoreJobsRunThanThereAreSlots) {
  FakeSlurmrestdOptions options;
  options.cluster.slots = 1;
  start("", options);
  const std::string first = id_of(submit("a", "while [ ! -e go ]; do sleep 0.02; done"));
  const std::string second = id_of(submit("b", "true"));
  ASSERT_TRUE(becomes(first, "RUNNING"));
  ASSERT_TRUE(becomes_true([&] { return job(second)["state_reason"] == "Resources"; }));
  scratch_.write("go", "");
  EXPECT_TRUE(becomes(second, "COMPLETED"));
}

TEST_F(FakeSlurmrestdTest, AnUnknownPartitionAndAnUnknownFieldAreRefused) {
  start();
  const ClientAnswer partition = submit("a", "true", {{"partition", "nosuch"}});
  EXPECT_EQ(partition.status, 500);
  EXPECT_EQ(partition.json()["errors"],
            json({{{"error_code", 2000}, {"error", "Invalid partition name specified"}}}));
  const ClientAnswer license = submit("a", "true", {{"licenses", "nosuch:1"}});
  EXPECT_EQ(license.json()["errors"],
            json({{{"error_code", 2048}, {"error", "Invalid license specification"}}}));
  const ClientAnswer field = submit("a", "true", {{"nosuchfield", 1}});
  EXPECT_EQ(field.status, 400);
  EXPECT_EQ(field.json()["errors"][0]["description"], "Unknown key \"nosuchfield\"");
  EXPECT_EQ(submit("a", "true", {{"argv", {"x"}}}).status, 0) << "a real one crashes";
  EXPECT_THAT(jobs(), IsEmpty());
}

TEST_F(FakeSlurmrestdTest, ANewerVersionPassesOverWhatItDoesNotKnow) {
  start("", {.release = "24.11"});
  const ClientAnswer answer = submit("a", "sleep 60", {{"gres", "gpu:2"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.json()["warnings"], SizeIs(1));
  EXPECT_EQ(job(id_of(answer))["tres_per_node"], "") << "a job without GPUs";
}

TEST_F(FakeSlurmrestdTest, AccountingKnowsWhatTheControllerHasForgotten) {
  start();
  const std::string id = id_of(submit("old", "exit 4"));
  ASSERT_TRUE(becomes(id, "FAILED"));
  fake_->cluster().purge();
  EXPECT_EQ(call("GET", at("job/" + id)).status, 500);
  const json known = call("GET", "/slurmdb/v0.0.38/jobs?job_name=old").json()["jobs"];
  ASSERT_THAT(known, SizeIs(1));
  EXPECT_EQ(known[0]["state"]["current"], "FAILED");
  EXPECT_EQ(known[0]["exit_code"]["return_code"], 4);
  EXPECT_THAT(call("GET", "/slurmdb/v0.0.38/jobs?job_name=other").json()["jobs"], IsEmpty());
}

TEST_F(FakeSlurmrestdTest, ItListensOnAUnixSocketToo) {
  start("", {.unix_path = scratch_ / "socket"});
  EXPECT_EQ(fake_->url(), "unix:" + (scratch_ / "socket"));
  EXPECT_EQ(call("GET", at("ping")).status, 200);
}

TEST_F(FakeSlurmrestdTest, JobsGoOnWhileItIsAway) {
  start();
  const std::string id = id_of(submit("a", "while [ ! -e go ]; do sleep 0.02; done"));
  fake_->go_away();
  EXPECT_EQ(call("GET", at("ping")).status, 0);
  scratch_.write("go", "");
  fake_->come_back();
  EXPECT_TRUE(becomes(id, "COMPLETED"));
}

TEST_F(FakeSlurmrestdTest, ItTellsWhatItWasAsked) {
  start("ping 2: status 503");
  call("GET", at("job/12"));
  call("GET", at("job/13"));
  call("GET", at("ping"));
  call("GET", at("ping"));
  EXPECT_EQ(fake_->requests().at("GET /slurm/v0.0.38/job/{id}"), 2);
  EXPECT_EQ(fake_->asked(Asked::kPing), 2);
  EXPECT_THAT(fake_->log(), Contains("GET /slurm/v0.0.38/ping -> 503 [ping 2: status 503]"));
  EXPECT_EQ(call("GET", "/fake/requests").json()["GET /slurm/v0.0.38/ping"], 2);
}

}  // namespace
}  // namespace tests
