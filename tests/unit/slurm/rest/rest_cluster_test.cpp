// What is asked of slurmrestd and how often, and what its answers mean.
#include "slurm/rest/rest_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/slurm/rest/rest_site.h"

namespace slurm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;
using ScriptedEnding = tests::ScriptedAnswer::Ending;

class RestClusterTest : public RestSite {
 protected:
  // Adds `count` jobs of Margay's with others' between them.
  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      jobs_.push_back(job(2 * i + 1, "margay-test-" + std::to_string(i), "PENDING"));
      jobs_.push_back(job(2 * i + 2, "someone's", "RUNNING"));
    }
  }
};

// --- listings ----------------------------------------------------------------------------------

TEST_F(RestClusterTest, OurJobsAreFoundAmongAllThatThereAre) {
  fill(3);
  jobs_.push_back(job(99, "margay-testing-1", "RUNNING"));  // of another instance
  jobs_.push_back(job(101, "someone's", "PENDING"));
  jobs_.back()["comment"] = "wait for margay-test-1";
  const auto cluster = make_rest_cluster(options());
  const Snapshot snapshot = cluster->states();
  EXPECT_TRUE(snapshot.complete) << snapshot.problem;
  EXPECT_TRUE(snapshot.fresh);
  EXPECT_THAT(snapshot.jobs,
              ElementsAre(Field(&JobStatus::job_id, "1"), Field(&JobStatus::job_id, "3"),
                          Field(&JobStatus::job_id, "5")));
}

TEST_F(RestClusterTest, OneJobIsLookedAtWithoutAListing) {
  fill(2);
  jobs_.push_back(job(9, "margay-test-9", "RUNNING"));
  const auto cluster = make_rest_cluster(options());
  EXPECT_EQ(cluster->look("1"), JobState::kPending);
  EXPECT_EQ(cluster->look("9"), JobState::kRunning);
  EXPECT_EQ(cluster->look("77"), std::nullopt);
  EXPECT_EQ(listings(), 0U);
}

TEST_F(RestClusterTest, OnePollMakesOneListingHoweverManyJobsThereAre) {
  for (const int count : {0, 1, 500}) {
    jobs_.clear();
    fill(count);
    const size_t before = listings();
    const auto cluster = make_rest_cluster(options());
    for (int i = 0; i < 10; ++i) EXPECT_THAT(cluster->states().jobs, SizeIs(count));
    EXPECT_EQ(listings() - before, 1) << count;
  }
  EXPECT_THAT(asked("GET", "/slurm/v0.0.38/job/"), IsEmpty());
}

TEST_F(RestClusterTest, BetweenPollsTheLastAnswerIsGivenAgainAsNotFresh) {
  fill(1);
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  jobs_.clear();
  pass(9'999);
  const Snapshot same = cluster->states();
  EXPECT_FALSE(same.fresh);
  EXPECT_TRUE(same.complete);
  EXPECT_THAT(same.jobs, SizeIs(1));
  pass(1);
  EXPECT_TRUE(cluster->states().fresh);
  EXPECT_THAT(cluster->states().jobs, IsEmpty());
}

TEST_F(RestClusterTest, ASlowListingIsMadeMoreSeldom) {
  const auto cluster = make_rest_cluster(options());
  answers_["/slurm/v0.0.38/jobs"] = [&](const auto&) {
    pass(4'000);
    return json(with_meta({{"jobs", jobs_}}));
  };
  cluster->states();
  pass(15'999);
  EXPECT_FALSE(cluster->states().fresh);
  pass(1);
  EXPECT_TRUE(cluster->states().fresh);
}

TEST_F(RestClusterTest, AnUnknownStateIsAlive) {
  jobs_ = {job(1, "margay-test-1", "LEVITATING")};
  const auto cluster = make_rest_cluster(options());
  EXPECT_THAT(cluster->states().jobs,
              ElementsAre(AllOf(Field(&JobStatus::state, JobState::kUnknownAlive),
                                Field(&JobStatus::words, "LEVITATING"))));
}

TEST_F(RestClusterTest, AListingThatIsNotWholeProvesNoAbsence) {
  fill(5);
  std::string body = with_meta({{"jobs", jobs_}}).dump();
  std::vector<std::pair<Answer, std::string>> cases = {
      {{.body = body, .ending = ScriptedEnding::kCut}, "did not answer"},
      {{.body = body.substr(0, body.size() / 2)}, "cut"},
      {{.body = body.substr(0, body.size() - 1)}, "cut"},
      {{.ending = ScriptedEnding::kDrop}, "did not answer"},
      {{.body = "{}"}, "not whole"},
      {{.body = R"({"jobs":[{"job_id":0,"name":"margay-test-1"}]})"}, "cannot be read"},
      {{.body = ""}, "cut"},
      {{.status = 304}, "304"},
      {{.status = 502, .body = "Bad Gateway"}, "slurmctld does not answer"},
      {{.status = 500, .body = error(1800, "Unable to contact slurm controller").dump()},
       "Unable to contact slurm controller"},
      {{.body = R"({"errors":[{"error_number":1800,"error":"gone"}],"jobs":[]})"}, "slurmctld"}};
  for (const auto& one : cases) {
    const auto& problem = one.second;
    const auto cluster = make_rest_cluster(options());
    ASSERT_TRUE(cluster->states().complete);
    answers_["/slurm/v0.0.38/jobs"] = [&one](const auto&) { return one.first; };
    pass(10'000);
    const Snapshot snapshot = cluster->states();
    EXPECT_FALSE(snapshot.complete) << problem;
    EXPECT_TRUE(snapshot.fresh) << problem;
    EXPECT_THAT(snapshot.jobs, IsEmpty()) << problem;
    EXPECT_THAT(snapshot.problem, HasSubstr(problem));
    answers_.clear();
    pass(10'000);
    EXPECT_THAT(cluster->states().jobs, SizeIs(5)) << problem;
  }
}

TEST_F(RestClusterTest, SlurmrestdThatIsNotThereIsNamedByItsAddress) {
  RestClusterOptions nowhere = options();
  nowhere.http.url = "http://127.0.0.1:" + std::to_string(tests::closed_port());
  const auto cluster = make_rest_cluster(nowhere);
  const Snapshot snapshot = cluster->states();
  EXPECT_FALSE(snapshot.complete);
  EXPECT_THAT(snapshot.problem, HasSubstr("cannot be reached at " + nowhere.http.url));
}

TEST_F(RestClusterTest, AHungSlurmrestdIsMetOnceAPollAndNotByEachRequest) {
  RestClusterOptions impatient = options();
  impatient.http.timeout = std::chrono::milliseconds(30);
  const auto cluster = make_rest_cluster(impatient);
  ASSERT_TRUE(cluster->states().complete);
  answers_["/slurm/"] = [&](const auto&) {
    pass(25'000);
    return Answer{.ending = ScriptedEnding::kDrop};
  };
  pass(10'000);
  EXPECT_FALSE(cluster->states().complete);
  const size_t before = server_.requests().size();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(cluster->cancel(std::to_string(i)));
  const SubmitResult result = cluster->submit(request("margay-test-1"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_THAT(result.message, HasSubstr("not asked again for the moment"));
  EXPECT_EQ(server_.requests().size(), before);
  answers_.clear();
  pass(25'000);
  EXPECT_TRUE(cluster->states().complete);
  EXPECT_EQ(cluster->submit(request("margay-test-1")).outcome, SubmitOutcome::kAccepted);
}

TEST_F(RestClusterTest, AUnixSocketServesWithoutAToken) {
  tests::ScriptedHttp local([this](const Request& one) { return respond(one); },
                            folder_ / "socket");
  RestClusterOptions by_socket = options();
  by_socket.http.url = "unix:" + (folder_ / "socket");
  by_socket.token_file.clear();
  const auto cluster = make_rest_cluster(by_socket);
  fill(1);
  EXPECT_THAT(cluster->states().jobs, SizeIs(1));
  EXPECT_EQ(local.requests().back().headers.count("x-slurm-user-token"), 0);
}

// --- versions ----------------------------------------------------------------------------------

TEST_F(RestClusterTest, TheNewestVersionThatBothKnowIsUsed) {
  versions_ = {"v0.0.40", "v0.0.42", "v0.0.41", "v0.0.99"};
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  EXPECT_THAT(asked("GET", "/slurm/v0.0.42/jobs"), SizeIs(1));
  EXPECT_THAT(cluster->describe(), HasSubstr("slurmrestd v0.0.42"));
}

TEST_F(RestClusterTest, TheVersionIsAskedForOnce) {
  const auto cluster = make_rest_cluster(options());
  for (int i = 0; i < 5; ++i, pass(10'000)) cluster->states();
  cluster->submit(request("margay-test-1"));
  EXPECT_THAT(asked("GET", "/openapi"), SizeIs(1));
}

TEST_F(RestClusterTest, AnotherVersionIsLookedForWhenTheAddressesAreGone) {
  const auto cluster = make_rest_cluster(options());
  EXPECT_TRUE(cluster->states().complete);
  versions_ = {"v0.0.42"};
  answers_["/slurm/v0.0.38/"] = [](const auto&) {
    return Answer{.status = 404, .body = "Unable find requested URL."};
  };
  pass(10'000);
  EXPECT_FALSE(cluster->states().complete);
  pass(10'000);
  EXPECT_TRUE(cluster->states().complete);
  EXPECT_THAT(asked("GET", "/slurm/v0.0.42/jobs"), SizeIs(1));
}

TEST_F(RestClusterTest, AnotherReleaseIsAskedForItsVersionsAnew) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  versions_.push_back("v0.0.40");
  answers_["/slurm/v0.0.38/jobs"] = [&](const auto&) {
    return json({{"meta", {{"slurm", {{"release", "23.11.1"}}}}}, {"jobs", jobs_}});
  };
  pass(10'000);
  cluster->states();
  pass(10'000);
  cluster->states();
  EXPECT_THAT(asked("GET", "/slurm/v0.0.40/jobs"), SizeIs(1));
}

TEST_F(RestClusterTest, TheSiteMayChooseAnOlderVersion) {
  versions_ = {"v0.0.40", "v0.0.41", "v0.0.42"};
  RestClusterOptions older = options();
  older.api_version = "v0.0.40";
  const auto cluster = make_rest_cluster(older);
  cluster->states();
  EXPECT_THAT(asked("GET", "/slurm/v0.0.40/jobs"), SizeIs(1));
}

TEST_F(RestClusterTest, WithoutACommonVersionItIsSaidWhatTheServerOffers) {
  versions_ = {"v0.0.36", "v0.0.37"};
  const auto cluster = make_rest_cluster(options());
  EXPECT_THAT(cluster->states().problem, HasSubstr("it offers v0.0.36, v0.0.37"));
  EXPECT_THAT(cluster->submit(request("margay-test-1")).message, HasSubstr("v0.0.36, v0.0.37"));
  RestClusterOptions other = options();
  other.api_version = "v0.0.42";
  EXPECT_THAT(make_rest_cluster(other)->states().problem,
              HasSubstr("does not offer the slurm.api_version v0.0.42"));
  other.api_version = "v1";
  EXPECT_THAT(make_rest_cluster(other)->states().problem, HasSubstr("v0.0.42, v0.0.41, v0.0.40"));
}

// --- submissions -------------------------------------------------------------------------------

TEST_F(RestClusterTest, TheDirectivesOfTheScriptBecomeFieldsOfTheRequest) {
  const auto cluster = make_rest_cluster(options());
  const SubmitResult result = cluster->submit(
      request("margay-test-1", "#SBATCH --partition=gpu --gres=gpu:2\n#SBATCH -x n01\n"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted) << result.message;
  EXPECT_EQ(result.job_id, "17");
  ASSERT_THAT(asked("POST", "/slurm/v0.0.38/job/submit"), SizeIs(1));
  const Request sent = asked("POST", "/slurm/v0.0.38/job/submit").front();
  EXPECT_EQ(sent.headers.at("content-length"), std::to_string(sent.body.size()));
  EXPECT_EQ(sent.headers.at("content-type"), "application/json");
  EXPECT_EQ(sent.headers.at("x-slurm-user-name"), "alice");
  const Json fields = Json::parse(sent.body).at("job");
  EXPECT_EQ(fields.at("name"), "margay-test-1");
  EXPECT_EQ(fields.at("partition"), "gpu");
  EXPECT_EQ(fields.at("gres"), "gpu:2");
  EXPECT_EQ(fields.at("exclude_nodes"), "n01");
}

TEST_F(RestClusterTest, AnUnknownDirectiveIsNotSent) {
  const auto cluster = make_rest_cluster(options());
  const SubmitResult result = cluster->submit(request("margay-test-1", "#SBATCH --gpuz=2\n"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(result.refusal, Refusal::kConfiguration);
  EXPECT_THAT(result.message, HasSubstr("gpuz"));
  EXPECT_THAT(asked("POST", "/"), IsEmpty());
}

TEST_F(RestClusterTest, WarningsBesideAnAcceptanceAreKept) {
  answers_["/slurm/v0.0.38/job/submit"] = [](const auto&) {
    Json body = error(2015, "Requested partition configuration not available now");
    body["job_id"] = 18;
    return json(body);
  };
  const SubmitResult result = make_rest_cluster(options())->submit(request("margay-test-1"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("Requested partition configuration")));
}

TEST_F(RestClusterTest, ALostAnswerIsUnknownAndTheSubmissionNotMadeAgain) {
  answers_["/slurm/v0.0.38/job/submit"] = [](const auto&) {
    return Answer{.ending = ScriptedEnding::kDrop};
  };
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  const SubmitResult result = cluster->submit(request("margay-test-1"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kUnknown);
  EXPECT_THAT(result.message, HasSubstr("did not answer"));
  EXPECT_THAT(asked("POST", "/"), SizeIs(1));
}

TEST_F(RestClusterTest, ASubmissionThatNobodyReceivedIsRefused) {
  RestClusterOptions nowhere = options();
  nowhere.http.url = "http://127.0.0.1:" + std::to_string(tests::closed_port());
  const SubmitResult result = make_rest_cluster(nowhere)->submit(request("margay-test-1"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(result.refusal, Refusal::kConfiguration);
  EXPECT_THAT(result.message, HasSubstr("cannot be reached"));
}

TEST_F(RestClusterTest, TestOnlySaysWhatToDoInstead) {
  const auto cluster = make_rest_cluster(options());
  EXPECT_THAT([&] { cluster->test_only(request("margay-test-1")); },
              ThrowsMessage<std::runtime_error>(HasSubstr("set slurm.transport to cli")));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

}  // namespace
}  // namespace slurm
