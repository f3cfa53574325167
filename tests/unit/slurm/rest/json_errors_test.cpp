// What answers of real slurmrestds prove.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/slurm/recorded.h"

namespace slurm {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using tests::recorded_answer;

constexpr ApiVersion kOld = ApiVersion::kV38;
constexpr ApiVersion kNew = ApiVersion::kV42;

// As 22.05 refuses a submission.
RestAnswer old_refusal(int code) {
  return {.status = 500,
          .body = R"({"meta": {}, "errors": [{"error_code": )" + std::to_string(code) +
                  R"(, "error": "What Slurm says"}]})",
          .seconds = 0.002};
}

// As 24.11 does.
RestAnswer new_refusal(int code) {
  return {.status = 500,
          .body = R"({"errors": [{"description": "Batch job submission failed", "error_number": )" +
                  std::to_string(code) +
                  R"(, "error": "What Slurm says", "source": "slurm_submit_batch_job"}],
                     "warnings": [], "meta": {}})",
          .seconds = 0.003};
}

TEST(ClassifySubmit, AJobIdIsAnAcceptance) {
  const SubmitResult old = classify_submit(recorded_answer("22.05", "submitted"));
  EXPECT_EQ(old.outcome, SubmitOutcome::kAccepted);
  EXPECT_EQ(old.job_id, "2");
  EXPECT_THAT(old.warnings, IsEmpty());
  for (const auto& [name, version, id] : {std::tuple{"submitted v40", ApiVersion::kV40, "1"},
                                          std::tuple{"submitted v41", ApiVersion::kV41, "2"},
                                          std::tuple{"submitted v42", ApiVersion::kV42, "3"}}) {
    const SubmitResult result = classify_submit(recorded_answer("24.11", name));
    EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted) << name;
    EXPECT_EQ(result.job_id, id);
  }
}

TEST(ClassifySubmit, AHeldJobIsAcceptedWithoutAWarning) {
  const SubmitResult result = classify_submit(recorded_answer("22.05", "submitted held"));
  EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted);
  EXPECT_EQ(result.job_id, "167");
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(ClassifySubmit, ErrorsBesideAnIdAreWarnings) {
  RestAnswer answer = {.status = 500, .body = R"({"job_id": 151, "errors": [{"error_code": 2015,
      "error": "Requested partition configuration not available now"}]})"};
  const SubmitResult result = classify_submit(answer);
  EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted);
  EXPECT_EQ(result.job_id, "151");
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_THAT(result.warnings[0], HasSubstr("not available now"));
}

TEST(ClassifySubmit, IgnoredFieldsAreWarnings) {
  RestAnswer answer = {.status = 200, .body = R"({"job_id": 9, "errors": [], "warnings": [
      {"description": "Ignoring unknown field \"gres\" of type string", "source": "#/job/gres/"},
      {"description": "Job is in held state, pending scheduler release", "source": "x"}]})"};
  const SubmitResult result = classify_submit(answer);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_THAT(result.warnings[0], HasSubstr("gres"));
}

TEST(ClassifySubmit, AnIdOnlyInTheResultCountsToo) {
  RestAnswer answer = {.status = 200, .body = R"({"result": {"job_id": 77, "error_code": 0}})"};
  EXPECT_EQ(classify_submit(answer).job_id, "77");
}

TEST(ClassifySubmit, ProvenRefusalsSayWhatTheyAreAbout) {
  const std::map<int, Refusal> refusals = {
      {2000, Refusal::kConfiguration}, {2045, Refusal::kConfiguration},
      {2066, Refusal::kConfiguration}, {2072, Refusal::kConfiguration},
      {9001, Refusal::kConfiguration}, {9002, Refusal::kConfiguration},
      {9000, Refusal::kConfiguration}, {2009, Refusal::kConfiguration},
      {2127, Refusal::kConfiguration}, {2115, Refusal::kConfiguration},
      {2053, Refusal::kConfiguration}, {2048, Refusal::kConfiguration},
      {2029, Refusal::kConfiguration}, {2010, Refusal::kConfiguration},
      {2014, Refusal::kJob},           {2012, Refusal::kJob},
      {2051, Refusal::kJob},           {2050, Refusal::kBusy},
      {2007, Refusal::kBusy},          {2016, Refusal::kBusy},
  };
  for (const auto& [code, refusal] : refusals) {
    for (const SubmitResult& result :
         {classify_submit(old_refusal(code)), classify_submit(new_refusal(code))}) {
      EXPECT_EQ(result.outcome, SubmitOutcome::kRejected) << code;
      EXPECT_EQ(result.refusal, refusal) << code;
      EXPECT_THAT(result.message, HasSubstr("What Slurm says")) << code;
      EXPECT_THAT(result.message, HasSubstr(std::to_string(code)));
    }
  }
}

TEST(ClassifySubmit, WhatProvesNothingIsUnknown) {
  for (const int code : {5004, 5005, 1800, -1, 1, 2027}) {
    EXPECT_EQ(classify_submit(old_refusal(code)).outcome, SubmitOutcome::kUnknown) << code;
    EXPECT_EQ(classify_submit(new_refusal(code)).outcome, SubmitOutcome::kUnknown) << code;
  }
  for (const char* name : {"submit to a hung controller", "controller down: submit",
                           "submit with expired token", "jobs with bad token"}) {
    EXPECT_EQ(classify_submit(recorded_answer("22.05", name)).outcome, SubmitOutcome::kUnknown)
        << name;
  }
  for (const char* name : {"submit to a hung controller", "controller down: POST job/submit"}) {
    EXPECT_EQ(classify_submit(recorded_answer("24.11", name)).outcome, SubmitOutcome::kUnknown)
        << name;
  }
  for (const RestAnswer& answer :
       {RestAnswer{.status = 200, .body = ""}, RestAnswer{.status = 200, .body = "{}"},
        RestAnswer{.status = 200, .body = R"({"job_id": 0, "errors": []})"},
        RestAnswer{.status = 200, .body = R"({"job_id": 12)"},
        RestAnswer{.status = 500, .body = "<html>Internal error</html>"},
        RestAnswer{.status = 502, .body = "Bad gateway"}, RestAnswer{.status = 0, .body = ""},
        RestAnswer{.status = 408, .body = ""}, RestAnswer{.status = 200, .body = "[12]"}}) {
    EXPECT_EQ(classify_submit(answer).outcome, SubmitOutcome::kUnknown) << answer.body;
    EXPECT_EQ(classify_submit(answer).outcome, SubmitOutcome::kUnknown) << answer.body;
  }
}

TEST(ClassifySubmit, ABadTokenIsTheConfigurations) {
  for (const auto& [release, name] :
       {std::pair{"24.11", "submit with expired token"}, std::pair{"24.11", "no authentication"},
        std::pair{"22.05", "no authentication"}}) {
    const SubmitResult result = classify_submit(recorded_answer(release, name));
    EXPECT_EQ(result.outcome, SubmitOutcome::kRejected) << release << name;
    EXPECT_EQ(result.refusal, Refusal::kConfiguration);
    EXPECT_THAT(result.message, HasSubstr("token"));
  }
}

TEST(ClassifySubmit, ARequestThatSlurmrestdCouldNotReadMadeNoJob) {
  for (const char* release : {"22.05", "24.11"}) {
    for (const char* name : {"malformed", "unknown address"}) {
      EXPECT_EQ(classify_submit(recorded_answer(release, name)).outcome, SubmitOutcome::kRejected)
          << release << name;
    }
  }
}

TEST(ClassifySubmit, NoPartOfTheRequestIsRepeated) {
  RestAnswer answer = {.status = 500, .body = R"({"errors": [{"error_number": 9208,
      "error": "Data parser expected a list",
      "description": "expected a list of strings but got \"SECRET=1\""}]})"};
  const SubmitResult result = classify_submit(answer);
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_THAT(result.message, Not(HasSubstr("SECRET")));
  EXPECT_THAT(problem_of(kNew, answer).message, Not(HasSubstr("SECRET")));
}

TEST(ProblemOf, AGoodAnswerHasNone) {
  for (const char* name : {"ping", "released", "partitions", "nodes", "accounting of one job",
                           "accounting found nothing"}) {
    const Problem problem = problem_of(kOld, recorded_answer("22.05", name));
    EXPECT_EQ(problem.trouble, Trouble::kNone) << name << ": " << problem.message;
  }
  for (const char* name : {"ping", "accounting of one job", "accounting found nothing"}) {
    const Problem problem = problem_of(kNew, recorded_answer("24.11", name));
    EXPECT_EQ(problem.trouble, Trouble::kNone) << name << ": " << problem.message;
  }
}

TEST(ProblemOf, ANumberThatIsNoneOfSlurmsIsNotTakenForAnother) {
  const RestAnswer answer = {
      .status = 500, .body = R"({"errors": [{"error_number": 4294967295, "error": "odd"}]})"};
  const Problem problem = problem_of(kOld, answer);
  EXPECT_EQ(problem.trouble, Trouble::kRefused) << problem.message;
  EXPECT_THAT(problem.message, HasSubstr("odd"));
}

TEST(ProblemOf, ABadTokenOfOldSlurmIsDistinguishedFromALostControllerByTheTime) {
  EXPECT_EQ(problem_of(kOld, recorded_answer("22.05", "jobs with bad token")).trouble,
            Trouble::kToken);
  EXPECT_EQ(problem_of(kOld, recorded_answer("22.05", "ping with expired token")).trouble,
            Trouble::kToken);
  EXPECT_EQ(problem_of(kOld, recorded_answer("22.05", "controller down: jobs")).trouble,
            Trouble::kController);
  EXPECT_EQ(problem_of(kOld, recorded_answer("22.05", "controller down: ping")).trouble,
            Trouble::kController);
}

TEST(ProblemOf, ALostControllerIsSeenInEveryCall) {
  for (const char* name : {"ping", "jobs", "job", "nodes", "partitions", "diag", "cancel"}) {
    const RestAnswer answer = recorded_answer("22.05", std::string("controller down: ") + name);
    EXPECT_EQ(problem_of(kOld, answer).trouble, Trouble::kController) << name;
  }
  for (const char* name : {"GET ping", "GET jobs", "GET job", "GET nodes", "DELETE job"}) {
    const RestAnswer answer = recorded_answer("24.11", std::string("controller down: ") + name);
    EXPECT_EQ(problem_of(kNew, answer).trouble, Trouble::kController) << name;
  }
  EXPECT_EQ(problem_of(kNew, recorded_answer("24.11", "jobs of a hung controller")).trouble,
            Trouble::kController);
}

TEST(ProblemOf, ABadTokenOfNewSlurmIsSaid) {
  EXPECT_EQ(problem_of(kNew, recorded_answer("24.11", "jobs with bad token")).trouble,
            Trouble::kToken);
  EXPECT_EQ(problem_of(kNew, recorded_answer("24.11", "no authentication")).trouble,
            Trouble::kToken);
}

TEST(ProblemOf, AFailureUnderHttp200IsSeen) {
  const Problem update = problem_of(kOld, recorded_answer("22.05", "update with an unknown key"));
  EXPECT_EQ(update.trouble, Trouble::kRefused);
  EXPECT_EQ(update.code, 9001);
  const Problem cancel = problem_of(kNew, recorded_answer("24.11", "cancel of no such job"));
  EXPECT_EQ(cancel.trouble, Trouble::kNotFound);
  EXPECT_EQ(cancel.code, 2017);
  const Problem denied = problem_of(kNew, {.status = 200, .body = R"({"status": [{"error":
      {"string": "Access/permission denied", "code": 2002, "message": "Access/permission denied"},
      "step_id": "302"}], "errors": []})"});
  EXPECT_EQ(denied.trouble, Trouble::kRefused);
  EXPECT_EQ(denied.code, 2002);
}

TEST(ProblemOf, AnItemWithoutANumberIsNoFailure) {
  const RestAnswer answer = {.status = 200, .body = R"({"errors": [{"description":
      "job array update from [localhost]:40210 failed", "source": "_parse_job_list"}]})"};
  EXPECT_EQ(problem_of(kOld, answer).trouble, Trouble::kNone);
}

TEST(ProblemOf, AJobThatIsNotThereIsNotFound) {
  EXPECT_EQ(problem_of(kOld, recorded_answer("22.05", "no such job")).trouble, Trouble::kNotFound);
  EXPECT_EQ(problem_of(kNew, recorded_answer("24.11", "no such job")).trouble, Trouble::kNotFound);
  EXPECT_EQ(problem_of(kNew, recorded_answer("24.11", "unknown address")).trouble,
            Trouble::kNotFound);
}

TEST(ProblemOf, AnythingElseIsOther) {
  for (const RestAnswer& answer :
       {RestAnswer{.status = 200, .body = ""}, RestAnswer{.status = 304, .body = ""},
        RestAnswer{.status = 200, .body = "{\"jobs\": ["}, RestAnswer{.status = 500, .body = "?"},
        RestAnswer{.status = 500, .body = "{}"}}) {
    EXPECT_EQ(problem_of(kNew, answer).trouble, Trouble::kOther) << answer.body;
  }
}

// Whatever arrives, it is an answer to judge and never an accident.
TEST(AnyAnswer, CutAndChangedAnswersNeverProveAnythingWrong) {
  for (const std::string release : {"22.05", "24.11"}) {
    const ApiVersion version = tests::version_of_release(release);
    const nlohmann::json answers = tests::recorded_answers(release);
    for (const auto& [name, recorded] : answers.items()) {
      const RestAnswer whole = recorded_answer(release, name);
      for (size_t length = 0; length < whole.body.size(); length += 7) {
        RestAnswer cut = whole;
        cut.body.resize(length);
        // A cut text of slurmrestd's own ("Authentication failure") still says the same.
        if (whole.body.starts_with("{") && whole.status != 511) {
          ASSERT_EQ(classify_submit(cut).outcome, SubmitOutcome::kUnknown) << name << " " << length;
        }
        ASSERT_NE(problem_of(version, cut).trouble, Trouble::kNone) << name << " " << length;
      }
    }
  }
}

TEST(AnyAnswer, NoChangedByteThrows) {
  uint32_t seed = 1;
  const auto next = [&] { return seed = seed * 1664525u + 1013904223u; };
  for (const std::string release : {"22.05", "24.11"}) {
    const ApiVersion version = tests::version_of_release(release);
    const nlohmann::json answers = tests::recorded_answers(release);
    for (const auto& [name, recorded] : answers.items()) {
      const RestAnswer whole = recorded_answer(release, name);
      for (int round = 0; round < 60; ++round) {
        RestAnswer answer = whole;
        for (uint32_t change = 0; change <= next() % 4; ++change) {
          answer.body[next() % answer.body.size()] = "{}[]\",:0-9nt\\\x80"[next() % 14];
        }
        EXPECT_NO_THROW({
          classify_submit(answer);
          problem_of(version, answer);
          parse_accounting_jobs(answer.body);
          parse_partitions(answer.body);
          parse_node_totals(answer.body);
          parse_qos(answer.body);
          parse_associations(answer.body, "alice");
          slurm_release(answer.body);
          offered_versions(answer.body);
        }) << name;
      }
    }
  }
}

}  // namespace
}  // namespace slurm
