#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <set>

#include "base/sha256.h"
#include "db/attempts.h"
#include "db/items.h"
#include "scheduler/api/unix_socket.h"
#include "slurm/job_states.h"
#include "tests/unit/scheduler/api/api_fixture.h"

namespace scheduler {
namespace {

using api::Descriptor;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ApiTest : public ApiFixture {
 protected:
  static Descriptor open_file(const std::string& path, int flags = O_RDONLY) {
    return Descriptor(::open(path.c_str(), flags | O_CLOEXEC));
  }

  static json entry(const std::string& path, size_t file = 0) {
    return {{"path", path},
            {"file", file},
            {"ctf",
             {{"defocus_u", 10200},
              {"defocus_v", 9800},
              {"astigmatism_angle", 35},
              {"phase_shift", 0}}}};
  }

  static json enqueue_body(const json& entries) {
    return {{"template", "ribosome"}, {"priority", "normal"}, {"items", entries}};
  }

  json enqueue_one(const std::string& path, int descriptor) const {
    return post("/v1/items", enqueue_body(json::array({entry(path)})), {descriptor})
        .at("items")
        .at(0);
  }
};

TEST_F(ApiTest, AnEnqueuedItemHasItsOwnerCtfAndFile) {
  register_template();
  const std::string path = write("one.mrc");
  const Descriptor file = open_file(path);
  const json item = enqueue_one(path, file.get()).at("item");
  EXPECT_EQ(item.at("micrograph"), path);
  EXPECT_EQ(item.at("template"), "ribosome@1");
  EXPECT_EQ(item.at("state"), "QUEUED");
  EXPECT_EQ(item.at("owner_uid"), ::getuid());
  EXPECT_EQ(item.at("micrograph_size"), 5);
  EXPECT_EQ(item.at("ctf").at("defocus_u"), 10200);
  EXPECT_EQ(get("/v1/items/1").at("item").at("id"), item.at("id"));
  EXPECT_GT(wakes_, 0);
}

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

TEST_F(ApiTest, AnotherFileThanTheOneNamedIsRefused) {
  register_template();
  const std::string secret = write("secret.mrc");
  const Descriptor own = open_file(write("own.mrc"));
  const json answer = enqueue_one(secret, own.get());
  EXPECT_EQ(answer.at("error").at("kind"), "invalid");
  EXPECT_THAT(answer.at("error").at("message").get<std::string>(), HasSubstr("a different file"));
  EXPECT_TRUE(get("/v1/items").at("items").empty());
}

TEST_F(ApiTest, WhetherAnotherFileExistsIsNotAnswered) {
  register_template();
  const Descriptor own = open_file(write("own.mrc"));
  write("secret.mrc");
  std::filesystem::create_directory(file("folder"));
  std::filesystem::create_symlink("loop", file("loop"));
  std::set<std::string> sentences;
  for (const std::string name :
       {"secret.mrc", "missing.mrc", "missing/secret.mrc", "own.mrc/x", "folder", "loop"}) {
    std::string message = enqueue_one(file(name), own.get()).at("error").at("message");
    ASSERT_TRUE(message.starts_with(file(name))) << message;
    sentences.insert(message.substr(file(name).size()));
  }
  EXPECT_EQ(sentences.size(), 1U) << testing::PrintToString(sentences);
}

TEST_F(ApiTest, ADescriptorWithoutTheRightToReadIsRefused) {
  register_template();
  const std::string path = write("secret.mrc");
  for (const int flags : {O_PATH, O_WRONLY}) {
    const Descriptor file = open_file(path, flags);
    const json answer = enqueue_one(path, file.get());
    ASSERT_TRUE(answer.contains("error")) << flags;
    EXPECT_THAT(answer.at("error").at("message").get<std::string>(),
                HasSubstr("not open for reading"));
  }
}

TEST_F(ApiTest, ARequestOfManyFilesIsOneTransactionWithAnAnswerForEach) {
  register_template();
  std::vector<Descriptor> files;
  std::vector<int> numbers;
  json entries = json::array();
  for (const std::string name : {"one.mrc", "two.mrc", "one.mrc", "three.mrc"}) {
    files.push_back(open_file(write(name)));
    entries.push_back(entry(file(name), numbers.size()));
    numbers.push_back(files.back().get());
  }
  entries[1]["ctf"].erase("defocus_u");
  const int commits = commits_;
  const json answers = post("/v1/items", enqueue_body(entries), numbers).at("items");
  EXPECT_EQ(commits_ - commits, 1);
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers.at(0).at("item").at("micrograph"), file("one.mrc"));
  EXPECT_EQ(answers.at(1).at("error").at("kind"), "invalid");
  EXPECT_EQ(answers.at(2).at("error").at("kind"), "conflict");
  EXPECT_EQ(answers.at(2).at("error").at("item"), answers.at(0).at("item").at("id"));
  EXPECT_EQ(answers.at(3).at("item").at("micrograph"), file("three.mrc"));
}

TEST_F(ApiTest, AFileThatWasNotPassedIsRefused) {
  register_template();
  const std::string path = write("one.mrc");
  const Descriptor file = open_file(path);
  const json answer =
      post("/v1/items", enqueue_body(json::array({entry(path, 1), entry(path, 0)})), {file.get()});
  EXPECT_EQ(answer.at("items").at(0).at("error").at("kind"), "invalid");
  EXPECT_TRUE(answer.at("items").at(1).contains("item"));
}

TEST_F(ApiTest, AFolderOrADeviceIsNoMicrograph) {
  register_template();
  for (const std::string& path : {folder_, std::string("/dev/null")}) {
    const Descriptor file = open_file(path);
    EXPECT_EQ(enqueue_one(path, file.get()).at("error").at("kind"), "invalid") << path;
  }
}

TEST_F(ApiTest, TheSameFileByAnotherNameIsTheSameItem) {
  register_template();
  const std::string path = write("one.mrc");
  std::filesystem::create_symlink(path, file("link.mrc"));
  const Descriptor first = open_file(path);
  const auto item = enqueue_one(path, first.get()).at("item").at("id").get<int64_t>();
  const Descriptor second = open_file(file("link.mrc"));
  const json error = enqueue_one(file("link.mrc"), second.get()).at("error");
  EXPECT_EQ(error.at("kind"), "conflict");
  EXPECT_EQ(error.at("item"), item);
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

TEST_F(ApiTest, OptionsThatAreRefusedAreOneAnswerForAllFiles) {
  register_template();
  const std::string path = write("one.mrc");
  const Descriptor file = open_file(path);
  json body = enqueue_body(json::array({entry(path)}));
  body["options"] = {{"time", "soon"}};
  const json answer = post("/v1/items", body, {file.get()});
  EXPECT_EQ(answer.at("status"), 400);
  EXPECT_EQ(answer.at("error").at("kind"), "usage");
  body["options"] = {{"nice", 5}};
  EXPECT_EQ(post("/v1/items", body, {file.get()}).at("status"), 400);
  body["options"] = json::array();
  EXPECT_EQ(post("/v1/items", body, {file.get()}).at("status"), 400);
  body["options"] = {{"nice", "5"}};
  EXPECT_EQ(
      post("/v1/items", body, {file.get()}).at("items").at(0).at("item").at("options").at("nice"),
      "5");
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

TEST_F(ApiTest, AQuotaThatIsUsedUpRefusesAllFilesOfARequest) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  register_template();
  const auto enqueued = [&](const std::string& label) {
    return as_nobody([&] {
      std::vector<Descriptor> files;
      std::vector<int> numbers;
      json entries = json::array();
      for (const std::string name : {"one.mrc", "two.mrc"}) {
        files.push_back(open_file(file(name)));
        entries.push_back(entry(file(name), numbers.size()));
        numbers.push_back(files.back().get());
      }
      json body = enqueue_body(entries);
      body["label"] = label;
      body["again"] = true;
      return post("/v1/items", body, numbers).at("status").get<int>();
    });
  };
  write("one.mrc");
  write("two.mrc");
  EXPECT_EQ(enqueued("first"), 200);
  EXPECT_EQ(enqueued("second"), 403) << "3 items allowed";
  EXPECT_EQ(get("/v1/items").at("items").size(), 2U);
  EXPECT_EQ(margay({"cancel", "1", "2"}).exit, 0);
  EXPECT_EQ(enqueued("second"), 200);
  EXPECT_EQ(enqueued(std::string(300, 'x')), 400);
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

TEST_F(ApiTest, AFileThatTheCallerMayNotReadCannotBeEnqueued) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  register_template();
  const std::string path = write("secret.mrc");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  EXPECT_EQ(as_nobody([&] {
              return margay({"enqueue", path, "--template", "ribosome", "--defocus-u", "1",
                             "--defocus-v", "1"})
                  .exit;
            }),
            5);
  // Nor by passing what may be had without the right to read.
  EXPECT_EQ(as_nobody([&] {
              const Descriptor file = open_file(path, O_PATH);
              return file && enqueue_one(path, file.get()).contains("error") ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(get("/v1/items").at("items").empty());
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

TEST_F(ApiTest, ATemplateHasTheCountsOfTheEngine) {
  count_ = [](const CountQuestion& question) {
    EXPECT_EQ(question.volume_sha256, base::sha256_of_text("volume"));
    EXPECT_EQ(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(question.volume)),
              question.volume_path);
    return CountAnswer{
        .counts = {.engine = "1.0", .orientations = 1596, .defocus_planes = 13, .pixel_sizes = 1}};
  };
  register_template();
  const json counts = get("/v1/templates").at("templates").at(0).at("counts");
  EXPECT_EQ(counts.at("orientations"), 1596);
  EXPECT_EQ(counts.at("engine"), "1.0");
  const Outcome again = margay({"template", "add", file("ribosome.mrc"), "--name", "ribosome",
                                "--config", file("search.yaml")});
  EXPECT_THAT(again.out, AllOf(HasSubstr("is already registered"),
                               HasSubstr("search   1596 orientations x 13 defocus planes\n")));
}

TEST_F(ApiTest, ATemplateThatTheEngineRefusesIsNotRegistered) {
  count_ = [](const CountQuestion& question) {
    return CountAnswer{.refused = "'" + question.settings_name + "': psi_step is wrong"};
  };
  const Outcome refused = margay({"template", "add", write("v.mrc"), "--name", "v", "--config",
                                  write("search.yaml", search_settings())});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(refused.error, "margay: '" + file("search.yaml") + "': psi_step is wrong\n");
  EXPECT_EQ(get("/v1/templates").at("templates").size(), 0U);
}

TEST_F(ApiTest, ATemplateThatNoEngineCheckedIsRegisteredWithAWarningAndCountedLater) {
  count_ = [](const CountQuestion&) { return CountAnswer{.unchecked = "cannot start engine"}; };
  const std::vector<std::string> command = {"template",
                                            "add",
                                            write("v.mrc"),
                                            "--name",
                                            "v",
                                            "--config",
                                            write("search.yaml", search_settings())};
  const Outcome added = margay(command);
  EXPECT_EQ(added.exit, 0);
  EXPECT_THAT(added.error, AllOf(HasSubstr("warning: the engine has not checked"),
                                 HasSubstr(": cannot start engine; register the template again")));
  EXPECT_TRUE(get("/v1/templates").at("templates").at(0).at("counts").is_null());
  count_ = [](const CountQuestion&) {
    return CountAnswer{.counts = {.engine = "1.0", .orientations = 7}};
  };
  EXPECT_EQ(margay(command).error, "");
  const json templates = get("/v1/templates").at("templates");
  ASSERT_EQ(templates.size(), 1U);
  EXPECT_EQ(templates.at(0).at("counts").at("orientations"), 7);
}

TEST_F(ApiTest, ATemplateIsKnownByTheBytesOfTheFileThatWasPassed) {
  register_template();
  const json record = get("/v1/templates").at("templates").at(0);
  EXPECT_EQ(record.at("name"), "ribosome");
  EXPECT_EQ(record.at("volume_sha256"), base::sha256_of_text("volume"));
  const std::string volume = write("other.mrc", "other");
  const Descriptor file = open_file(volume);
  const json body = {
      {"name", "ribosome"}, {"path", volume}, {"file", 0}, {"search_yaml", search_settings()}};
  EXPECT_EQ(post("/v1/templates", body, {file.get()}).at("template").at("version"), 2);
  json broken = body;
  broken["search_yaml"] = "a: [";
  EXPECT_EQ(post("/v1/templates", broken, {file.get()}).at("error").at("kind"), "invalid");
  broken["search_yaml"] = search_settings() + "x: &x [*x]\n";
  EXPECT_THAT(
      post("/v1/templates", broken, {file.get()}).at("error").at("message"),
      HasSubstr("'search_yaml' line 12: an alias there stands for a value that contains it"));
  const Outcome refused = margay({"template", "add", volume, "--name", "cyclic", "--config",
                                  write("cyclic.yaml", "a: 1\nx: &x [*x]\n")});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.error, HasSubstr("cyclic.yaml' line 2: an alias there stands for"));
}

}  // namespace
}  // namespace scheduler
