// The token: renewed by others at any time, and never to be seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "slurm/rest/rest_cluster.h"
#include "tests/unit/slurm/rest/rest_site.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

using RestTokenTest = RestSite;

TEST_F(RestTokenTest, TheTokenAndItsUserGoWithEachRequest) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  for (const Request& request : server_.requests()) {
    EXPECT_EQ(request.headers.at("x-slurm-user-token"), token_);
    EXPECT_EQ(request.headers.at("x-slurm-user-name"), "alice");
  }
}

TEST_F(RestTokenTest, TheUserOfTheConfigurationComesFirst) {
  RestClusterOptions other = options();
  other.user = "bob";
  const auto cluster = make_rest_cluster(other);
  cluster->states();
  EXPECT_EQ(server_.requests().back().headers.at("x-slurm-user-name"), "bob");
  EXPECT_THAT(cluster->describe(), HasSubstr("as bob"));
}

TEST_F(RestTokenTest, ARenewedTokenIsUsedAtOnce) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  renew_token("two");
  pass(10'000);
  EXPECT_TRUE(cluster->states().complete);
  EXPECT_EQ(server_.requests().back().headers.at("x-slurm-user-token"), token_);
}

TEST_F(RestTokenTest, AQuestionRefusedWhileTheTokenWasRenewedIsAskedAgainOnce) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  answers_["/slurm/v0.0.38/jobs"] = [this, first = token_](const Request& request) {
    if (request.headers.at("x-slurm-user-token") != first) return usual(request);
    renew_token("two");
    return Answer{.status = 401, .body = "Authentication failure"};
  };
  pass(10'000);
  EXPECT_TRUE(cluster->states().complete);
  EXPECT_EQ(listings(), 3);
}

TEST_F(RestTokenTest, TheSameTokenIsNotTriedTwice) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  accepted_token_ = "another";
  pass(10'000);
  const Snapshot snapshot = cluster->states();
  EXPECT_FALSE(snapshot.complete);
  EXPECT_THAT(snapshot.problem, HasSubstr("put a new one into " + (folder_ / "token")));
  EXPECT_EQ(listings(), 2);
}

TEST_F(RestTokenTest, ASubmissionRefusedForItsTokenIsMadeAgainWithTheNewOne) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  answers_["/slurm/v0.0.38/job/submit"] = [this, first = token_](const Request& request) {
    if (request.headers.at("x-slurm-user-token") != first) return usual(request);
    renew_token("two");
    return Answer{.status = 401, .body = "Authentication failure"};
  };
  EXPECT_EQ(cluster->submit(request("margay-test-1")).outcome, SubmitOutcome::kAccepted);
  EXPECT_THAT(asked("POST", "/"), SizeIs(2));
}

TEST_F(RestTokenTest, ASubmissionThatMayHaveBeenMadeIsNotMadeAgainWithANewToken) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  // What 22.05 says of a bad token, and of other troubles too.
  answers_["/slurm/v0.0.38/job/submit"] = [this](const Request&) {
    renew_token("two");
    return json(error(5005, "Zero Bytes were transmitted or received"), 500);
  };
  EXPECT_EQ(cluster->submit(request("margay-test-1")).outcome, SubmitOutcome::kUnknown);
  EXPECT_THAT(asked("POST", "/"), SizeIs(1));
}

TEST_F(RestTokenTest, AnExpiredTokenIsNotSent) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  now_ = kNow + 3600;
  const size_t before = server_.requests().size();
  const SubmitResult result = cluster->submit(request("margay-test-1"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(result.refusal, Refusal::kConfiguration);
  EXPECT_THAT(result.message,
              HasSubstr("the token in " + (folder_ / "token") + " expired on 2023-11-14 23:13:20"));
  pass(10'000);
  EXPECT_THAT(cluster->states().problem, HasSubstr("expired on 2023-11-14 23:13:20 UTC"));
  EXPECT_FALSE(cluster->cancel("1"));
  EXPECT_EQ(server_.requests().size(), before);
  renew_token("two", now_ + 60);
  pass(10'000);
  EXPECT_TRUE(cluster->states().complete);
}

TEST_F(RestTokenTest, AMissingTokenFileIsNamedAndNothingSent) {
  const auto cluster = make_rest_cluster(options());
  fs::remove(folder_ / "token");
  EXPECT_THAT(cluster->states().problem, HasSubstr(folder_ / "token"));
  const SubmitResult result = cluster->submit(request("margay-test-1"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(result.refusal, Refusal::kConfiguration);
  EXPECT_THAT(result.message, HasSubstr(folder_ / "token"));
  EXPECT_THAT(server_.requests(), IsEmpty());
}

// --- nobody sees it ----------------------------------------------------------------------------

class RestSecretTest : public RestSite {
 protected:
  // Every text that a cluster hands out.
  std::vector<std::string> all_texts(Cluster& cluster) {
    std::vector<std::string> texts;
    const Snapshot snapshot = cluster.states();
    texts.push_back(snapshot.problem);
    SubmitResult result = cluster.submit(request("margay-test-1"));
    texts.push_back(result.message);
    texts.insert(texts.end(), result.warnings.begin(), result.warnings.end());
    for (const auto& job :
         cluster.find_by_name("margay-test-1").value_or(std::vector<JobStatus>{})) {
      texts.push_back(job.reason);
    }
    for (const Finding& finding : cluster.examine({.partitions = {"gpu"}, .accounts = {"a"}})) {
      texts.push_back(finding.says);
      texts.push_back(finding.advice);
    }
    texts.push_back(cluster.describe());
    return texts;
  }
  void expect_secret(const std::string& name) {
    const auto cluster = make_rest_cluster(options());
    const auto texts = all_texts(*cluster);
    EXPECT_FALSE(server_.requests().empty()) << name;
    EXPECT_THAT(texts, Each(Not(HasSubstr(token_)))) << name;
    const std::string signature = token_.substr(token_.rfind('.') + 1);
    EXPECT_THAT(texts, Each(Not(HasSubstr(signature)))) << name;
  }
};

TEST_F(RestSecretTest, NoMessageHasTheTokenWhateverTheServerAnswers) {
  using Echo = std::function<Answer(const std::string& token)>;
  const std::map<std::string, Echo> echoes = {
      {"an error", [](const auto& t) { return json(error(2002, "no entry for " + t), 500); }},
      {"a warning",
       [](const auto& t) {
         return json({{"job_id", 4}, {"warnings", {{{"description", "seen: " + t}}}}});
       }},
      {"a text", [](const auto& t) { return Answer{.status = 400, .body = "bad token " + t}; }},
      {"a date", [](const auto& t) { return Answer{.more_headers = "Date: " + t + "\r\n"}; }},
      {"a listing",
       [](const auto& t) {
         return json(
             {{"jobs", Json::array()}, {"errors", {{{"error_number", 1}, {"error", "of " + t}}}}});
       }},
      {"nothing", [](const auto&) { return Answer{.ending = Answer::Ending::kDrop}; }}};
  for (const auto& [name, echo] : echoes) {
    answers_["/slurm"] = [&, send = echo](const Request& request) {
      return send(request.headers.at("x-slurm-user-token"));
    };
    expect_secret(name);
  }
}

TEST_F(RestSecretTest, NoMessageHasTheTokenWhenTheFirstQuestionFails) {
  answers_["/"] = [](const Request& request) {
    return json(error(1, "what is " + request.headers.at("x-slurm-user-token")), 500);
  };
  expect_secret("the versions");
}

}  // namespace
}  // namespace slurm
