#include <gmock/gmock.h>
#include <unistd.h>

#include <future>

#include "db/attempts.h"
#include "db/items.h"
#include "slurm/job_states.h"
#include "tests/unit/scheduler/api/api_test_fixture.h"

namespace scheduler {
namespace {

using api::Descriptor;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ApiTest, ARowThatCannotBeReadIsLeftOutOfTheListAndNamedWhenAskedFor) {
  register_template();
  const int64_t asleep = enqueue("a.mrc");
  const int64_t dreams = enqueue("b.mrc");
  const int64_t sound = enqueue("c.mrc");
  activate(dreams);
  db::Connection edit(database_->path());
  edit.execute("UPDATE items SET state = 'ASLEEP' WHERE id = " + std::to_string(asleep));
  edit.execute("UPDATE attempts SET state = 'DREAMING'");
  // The page is full although a row of it is left out.
  const json page = get("/v1/items?limit=1&explain=1&progress=1").at("items");
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page.at(0).at("id"), dreams);
  EXPECT_THAT(page.at(0).at("progress_problem"), HasSubstr("unknown state 'DREAMING'"));
  EXPECT_EQ(get("/v1/items?explain=1&progress=1").at("items").at(1).at("id"), sound);
  EXPECT_THAT(margay({"list"}).out, HasSubstr("c.mrc"));
  EXPECT_THAT(margay({"show", std::to_string(asleep)}).error, HasSubstr("unknown state 'ASLEEP'"));
  EXPECT_THAT(margay({"show", std::to_string(dreams)}).error,
              HasSubstr("unknown state 'DREAMING'"));
}

TEST_F(ApiTest, AnUnknownTemplatePriorityOrCtfIsNamed) {
  register_template();
  const std::string path = write("one.mrc");
  const Descriptor file = open_file(path);
  json body = enqueue_body(json::array({entry(path)}));
  body["template"] = "ribosom";
  EXPECT_EQ(post("/v1/items", body, {file.get()}).at("items").at(0).at("error").at("kind"),
            "not_found");
  body = enqueue_body(json::array({entry(path)}));
  body["priority"] = "live";
  EXPECT_EQ(post("/v1/items", body, {file.get()}).at("items").at(0).at("error").at("kind"),
            "invalid");
  body = enqueue_body(json::array({entry(path)}));
  body["items"][0]["ctf"].erase("defocus_v");
  EXPECT_THAT(post("/v1/items", body, {file.get()})
                  .at("items")
                  .at(0)
                  .at("error")
                  .at("message")
                  .get<std::string>(),
              HasSubstr("defocus_v"));
}

TEST_F(ApiTest, ADeadlineIsInSecondsAndOneThatIsMissedSaysByHowMany) {
  register_template();
  const std::string path = write("one.mrc");
  const Descriptor file = open_file(path);
  json body = enqueue_body(json::array({entry(path)}));
  body["finish_by"] = "08:00";
  EXPECT_THAT(post("/v1/items", body, {file.get()}).at("items").at(0).dump(),
              HasSubstr("must be a whole number of seconds since 1970 UTC"));
  body["finish_by"] = 18446744073709551615U;
  EXPECT_THAT(post("/v1/items", body, {file.get()}).at("items").at(0).dump(),
              HasSubstr("must be a whole number of seconds"));
  body["finish_by"] = 5;
  const json enqueued = post("/v1/items", body, {file.get()}).at("items").at(0).at("item");
  EXPECT_EQ(enqueued.at("finish_by"), 5);
  EXPECT_GT(enqueued.at("late_by"), 0);
  const std::string item = "/v1/items/" + std::to_string(enqueued.at("id").get<int64_t>());
  EXPECT_GT(get("/v1/items").at("items").at(0).at("late_by"), 0);
  const json changed = post(item + "/finish-by", {{"finish_by", 0}}).at("item");
  EXPECT_EQ(changed.at("finish_by"), 0);
  EXPECT_FALSE(changed.contains("late_by"));
  EXPECT_FALSE(get(item).at("item").contains("late_by"));
}

TEST_F(ApiTest, AnAttemptShowsTheClustersStateAndItsMeaning) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  db::Attempt attempt = activate(item);
  attempt.state = db::AttemptState::kPending;
  attempt.job_id = "4711";
  attempt.cluster_words = "PENDING";
  attempt.cluster_reason = "Resources";
  attempt.restarts = 2;
  ASSERT_TRUE(db::AttemptStore(*database_).update(attempt));
  const json shown = get("/v1/items/1").at("item");
  const json& shown_attempt = shown.at("attempts").at(0);
  EXPECT_EQ(shown_attempt.at("cluster_words"), "PENDING");
  EXPECT_EQ(shown_attempt.at("cluster_reason"), "Resources");
  EXPECT_EQ(shown_attempt.at("cluster_meaning"), slurm::meaning_of_reason("Resources"));
  EXPECT_EQ(shown_attempt.at("restarts"), 2);
  const std::string why = slurm::meaning_of_reason("Resources") + " (job 4711: PENDING, Resources)";
  EXPECT_EQ(shown.at("explanation"), why);
  EXPECT_EQ(get("/v1/items?explain=1").at("items").at(0).at("explanation"), why);
  EXPECT_THAT(margay({"show", "1"}).out,
              AllOf(HasSubstr("PENDING: Resources: "), HasSubstr("requeued 2 times")));
}

TEST_F(ApiTest, AJobThatNeedsActionIsDistinctFromOneThatOnlyWaits) {
  register_template();
  db::Attempt attempt = activate(enqueue("one.mrc"));
  attempt.state = db::AttemptState::kPending;
  attempt.job_id = "4711";
  attempt.cluster_words = "PENDING";
  const auto explanation_with = [&](const std::string& reason) {
    attempt.cluster_reason = reason;
    EXPECT_TRUE(db::AttemptStore(*database_).update(attempt));
    return get("/v1/items?explain=1").at("items").at(0).at("explanation").get<std::string>();
  };
  EXPECT_THAT(explanation_with("JobHeldUser"), HasSubstr("will not start by itself"));
  EXPECT_THAT(explanation_with("Priority"), Not(HasSubstr("by itself")));
  EXPECT_EQ(explanation_with(""), "job 4711 waits in the cluster (PENDING)");
  EXPECT_EQ(margay({"cancel", "1"}).exit, 0);
  EXPECT_THAT(explanation_with("Priority"), HasSubstr("being cancelled"));
}

TEST_F(ApiTest, OnlyThePrivilegedExamineTheSite) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  EXPECT_EQ(as_nobody([&] { return margay({"doctor"}).exit; }), 5);
}

TEST_F(ApiTest, TheSiteIsExaminedOnceAtATime) {
  std::promise<void> begun;
  std::promise<void> end;
  examine_ = [&] {
    begun.set_value();
    end.get_future().wait();
    return std::vector<slurm::Finding>();
  };
  auto first = std::async(std::launch::async, [&] { return post("/v1/doctor", json::object()); });
  begun.get_future().wait();
  EXPECT_EQ(post("/v1/doctor", json::object()).at("error").at("kind"), "conflict");
  end.set_value();
  EXPECT_EQ(first.get().at("status"), 200);
  examine_ = []() -> std::vector<slurm::Finding> { throw std::runtime_error("no disk"); };
  EXPECT_EQ(post("/v1/doctor", json::object()).at("status"), 500);
  EXPECT_EQ(post("/v1/doctor", json::object()).at("status"), 500) << "not still being examined";
}

TEST_F(ApiTest, AShapeThatIsNoneIsRefused) {
  EXPECT_EQ(get("/v1/items/1/script?shape=round").at("status"), 400);
  EXPECT_EQ(get("/v1/items/1/script?shape=cpu").at("status"), 200);
}

TEST_F(ApiTest, WhatIsNotJsonOrHasNoAddressIsAnswered) {
  const api::Answer answer =
      api::HttpClient(file("s.sock"))
          .call({.method = "POST", .target = "/v1/items", .body = "{\"a\":"});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(post("/v1/items", json::array()).at("status"), 400);
  EXPECT_EQ(get("/v1/nothing").at("status"), 404);
  EXPECT_EQ(get("/v1/items/12x").at("status"), 400);
  EXPECT_EQ(get("/v1/items/99999999999999999999").at("status"), 400);
  EXPECT_EQ(get("/v1/items/7").at("status"), 404);
  EXPECT_EQ(get("/v1/items?state=BUSY").at("status"), 400);
  EXPECT_EQ(get("/v1/items/7/log?offset=-1").at("status"), 404);
  EXPECT_EQ(post("/v1/items/7/explode", json::object()).at("error").at("kind"), "not_found");
}

TEST_F(ApiTest, HashingAndRenderingAreKnownToTakeLongHoweverTheirAddressIsWritten) {
  const auto takes_long = [](const std::string& method, const std::string& path) {
    return api::takes_long({.method = method, .path = path});
  };
  EXPECT_TRUE(takes_long("POST", "/v1/templates"));
  EXPECT_TRUE(takes_long("POST", "//v1//templates/"));
  EXPECT_TRUE(takes_long("GET", "/v1/items/7//script/"));
  EXPECT_FALSE(takes_long("GET", "/v1/templates"));
  EXPECT_FALSE(takes_long("POST", "/v1/items"));
  EXPECT_FALSE(takes_long("GET", "/"));
}

TEST_F(ApiTest, OthersMayLookButNotTouch) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  register_template();
  const int64_t item = enqueue("one.mrc");
  const std::string target = "/v1/items/" + std::to_string(item);
  EXPECT_EQ(as_nobody([&] { return get(target).at("status") == 200 ? 0 : 1; }), 0);
  for (const std::string action : {"hold", "cancel", "release", "retry", "promote"}) {
    EXPECT_EQ(
        as_nobody([&] {
          const json answer = post(target + "/" + action, {{"priority", "urgent"}});
          return answer.at("status") == 403 && answer.at("error").at("kind") == "not_permitted" ? 0
                                                                                                : 1;
        }),
        0)
        << action;
  }
  EXPECT_EQ(as_nobody([&] { return margay({"hold", std::to_string(item)}).exit; }), 5);
  EXPECT_EQ(as_nobody([&] { return margay({"stop"}).exit; }), 5);
  EXPECT_EQ(stops_, 0);
  EXPECT_EQ(get(target).at("item").at("state"), "QUEUED");
}

TEST_F(ApiTest, AnItemBelongsToWhoEnqueuedIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  register_template();
  const std::string path = write("one.mrc");
  EXPECT_EQ(as_nobody([&] {
              return margay({"enqueue", path, "--template", "ribosome", "--defocus-u", "1",
                             "--defocus-v", "1"})
                  .exit;
            }),
            0);
  EXPECT_EQ(get("/v1/items/1").at("item").at("owner_uid"), 65534);
  EXPECT_EQ(as_nobody([&] { return margay({"hold", "1"}).exit; }), 0);
  EXPECT_EQ(margay({"release", "1"}).exit, 0);  // root may
}

TEST_F(ApiTest, ABodyOfManyOrDeepValuesIsRefused) {
  std::string many = "[0";
  for (int i = 0; i < 60'000; ++i) many += ",0";
  for (const std::string& value : {std::string(100, '[') + std::string(100, ']'), many + "]"}) {
    const api::Answer answer =
        api::HttpClient(file("s.sock"))
            .call({.method = "POST", .target = "/v1/items", .body = "{\"items\":" + value + "}"});
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("nested deeper than 16 levels or has more than 50000"));
  }
}

TEST_F(ApiTest, OneRequestNamesNoMoreItemsThanFitIntoMemory) {
  const auto says = [](const json& answer) {
    EXPECT_EQ(answer.at("status"), 400);
    return answer.at("error").at("message").get<std::string>();
  };
  const auto many = [](size_t count, const json& entry) { return json(count, entry); };
  EXPECT_THAT(says(post("/v1/changes", {{"action", "hold"}, {"items", many(10'001, 1)}})),
              HasSubstr("names 10001 items, more than the 10000 of one request"));
  EXPECT_THAT(says(post("/v1/changes", {{"action", "retry"}, {"items", many(251, 1)}})),
              HasSubstr("more than the 250"));
  EXPECT_THAT(says(post("/v1/items", enqueue_body(many(251, entry("/a.mrc"))))),
              HasSubstr("more than the 250"));
}

TEST_F(ApiTest, OthersChangeNothingInARequestForSeveralEither) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  register_template();
  const int64_t item = enqueue("one.mrc");
  for (const std::string action : {"hold", "cancel", "release", "retry", "promote", "finish-by"}) {
    EXPECT_EQ(as_nobody([&] {
                const json answer = post(
                    "/v1/changes",
                    {{"action", action}, {"priority", "low"}, {"finish_by", 0}, {"items", {item}}});
                const json& error = answer.at("items").at(0).at("error");
                return error.at("kind") == "not_permitted" ? 0 : 1;
              }),
              0)
        << action;
  }
  EXPECT_EQ(get("/v1/items/" + std::to_string(item)).at("item").at("state"), "QUEUED");
}

TEST_F(ApiTest, AVersionBeyondAllNumbersIsNoOtherVersion) {
  register_template();
  // 2^32 + 1
  EXPECT_EQ(post("/v1/templates/ribosome@4294967297/remove", json::object()).at("status"), 400);
  EXPECT_EQ(get("/v1/templates").at("templates").size(), 1U);
}

TEST_F(ApiTest, ARequestToResumeNeedsNoBody) {
  const api::Answer answer =
      api::HttpClient(file("s.sock")).call({.method = "POST", .target = "/v1/resume"});
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body).at("was_paused"), false);
}

TEST_F(ApiTest, StoppingIsAskedForOnce) {
  status_.pid = 4711;
  EXPECT_EQ(post("/v1/stop", json::object()).at("pid"), 4711);
  EXPECT_EQ(stops_, 1);
}

TEST_F(ApiTest, ItemsComeInPages) {
  register_template();
  for (int i = 0; i < 5; ++i) enqueue("m" + std::to_string(i) + ".mrc");
  EXPECT_EQ(get("/v1/items?limit=2").at("next"), 2);
  EXPECT_EQ(get("/v1/items?limit=6").at("next"), 0);
  EXPECT_EQ(get("/v1/items?limit=0").at("items").size(), 1U) << "no page has all";
  EXPECT_THAT(api::HttpClient(file("s.sock")).call({.target = "/v1/items?limit=2"}).body,
              testing::StartsWith(R"({"format":1,"next":2,)"))
      << "where `margay list` looks for it";
  const json first = get("/v1/items?limit=2").at("items");
  ASSERT_EQ(first.size(), 2U);
  const json rest = get("/v1/items?after=" + first[1].at("id").dump()).at("items");
  EXPECT_EQ(rest.size(), 3U);
  EXPECT_EQ(get("/v1/items?ids=2,4").at("items").size(), 2U);
  EXPECT_EQ(get("/v1/items?state=DONE").at("items").size(), 0U);
}

TEST_F(ApiTest, ABriefListHasWhatATableShowsInAMuchShorterAnswer) {
  register_template();
  enqueue("one.mrc");
  const json whole = get("/v1/items").at("items").at(0);
  const json brief = get("/v1/items?brief=1").at("items").at(0);
  for (const char* key :
       {"id", "state", "priority", "template", "owner", "micrograph", "created"}) {
    EXPECT_EQ(brief.at(key), whole.at(key)) << key;
  }
  EXPECT_TRUE(whole.contains("ctf"));
  EXPECT_FALSE(brief.contains("ctf"));
  EXPECT_EQ(get("/v1/items?brief=1").at("format"), 1);
  EXPECT_EQ(get("/v1/items?state=DONE").at("items"), json::array());
}

}  // namespace
}  // namespace scheduler
