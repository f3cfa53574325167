// What the API serves of the files that jobs leave: progress, log, results.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "db/results.h"
#include "tests/unit/scheduler/api/api_fixture.h"

namespace scheduler {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class JobFilesTest : public ApiFixture {};

TEST_F(JobFilesTest, ProgressIsWhatTheEngineWrote) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  const db::Attempt attempt = activate(item);
  const std::string target = "/v1/items/" + std::to_string(item);
  EXPECT_TRUE(get(target).at("item").at("progress").is_null());
  write("a" + std::to_string(item) + "/progress.json", R"({"done":5,"total":10})");
  EXPECT_EQ(get(target).at("item").at("progress").at("done"), 5);
  EXPECT_EQ(get("/v1/items?progress=1").at("items").at(0).at("progress").at("total"), 10);
  write("a" + std::to_string(item) + "/progress.json", R"({"done":)");
  EXPECT_TRUE(get(target).at("item").at("progress").is_null());
}

TEST_F(JobFilesTest, WhateverAJobLeavesAsItsProgressSpoilsNoAnswerAboutOthers) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  enqueue("two.mrc");
  activate(item);
  const std::string progress = "a" + std::to_string(item) + "/progress.json";
  const auto listed = [&] {
    const json items = get("/v1/items?progress=1").at("items");
    EXPECT_EQ(items.size(), 2U);
    EXPECT_EQ(margay({"list"}).exit, 0);
    return items.at(0);
  };
  write(progress, std::string(30'000, '[') + std::string(30'000, ']'));
  EXPECT_THAT(listed().at("progress_problem"), HasSubstr("nests lists and objects"));
  write(progress, std::string(200'000, ' '));
  EXPECT_THAT(listed().at("progress_problem"), HasSubstr("is longer than"));
  std::filesystem::remove(file(progress));
  std::filesystem::create_symlink(write("secret.json", R"({"state":"secret"})"), file(progress));
  EXPECT_THAT(listed().at("progress_problem"), HasSubstr("is a symbolic link"));
  EXPECT_TRUE(listed().at("progress").is_null());
  std::filesystem::remove(file(progress));
  ASSERT_EQ(::mkfifo(file(progress).c_str(), 0666), 0);
  EXPECT_THAT(listed().at("progress_problem"), HasSubstr("is not a regular file"));
  EXPECT_THAT(margay({"show", std::to_string(item)}).out, HasSubstr("is not a regular file"));
}

TEST_F(JobFilesTest, OfAReportOfProgressOnlyWhatHasTheRightTypeIsPassedOn) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  activate(item);
  write("a" + std::to_string(item) + "/progress.json", json{{"done", 5},
                                                            {"total", "ten"},
                                                            {"rate", json::array()},
                                                            {"eta_seconds", 1e27},
                                                            {"state", std::string(10'000, 'x')},
                                                            {"own", "words"}}
                                                           .dump());
  EXPECT_EQ(get("/v1/items?progress=1").at("items").at(0).at("progress"), json({{"done", 5}}));
  EXPECT_EQ(margay({"list"}).exit, 0);
}

TEST_F(JobFilesTest, ALogOrAPeakListThatIsNoFileOfTheJobsOwnIsNotServed) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  const db::Attempt attempt = activate(item);
  const std::string target = "/v1/items/" + std::to_string(item);
  const std::string log = attempt.directory + "/job.log";
  const auto message = [&](const std::string& of) {
    const json answer = get(target + of);
    return answer.contains("error") ? answer.at("error").at("message").get<std::string>()
                                    : "served";
  };
  std::filesystem::create_symlink(write("secret", "secret"), log);
  EXPECT_EQ(message("/log"), "'" + log + "' is a symbolic link, which is not followed");
  std::filesystem::remove(log);
  ASSERT_EQ(::mkfifo(log.c_str(), 0666), 0);
  EXPECT_EQ(message("/log"), "'" + log + "' is not a regular file");
  std::filesystem::remove_all(attempt.directory);
  std::filesystem::create_directory(file("elsewhere"));
  write("elsewhere/job.log", "secret");
  std::filesystem::create_directory_symlink(file("elsewhere"), attempt.directory);
  EXPECT_EQ(message("/log"), "'" + attempt.directory + "' is a symbolic link or no folder");
  db::Result result;
  result.item_id = item;
  result.attempt_id = attempt.id;
  result.peaks_csv = file("list.csv");
  std::filesystem::create_symlink(file("secret"), result.peaks_csv);
  db::ResultStore(*database_).insert(result);
  EXPECT_EQ(message("/results"),
            "'" + result.peaks_csv + "' is a symbolic link, which is not followed");
}

class OwnersFilesTest : public ApiFixture {
 protected:
  OwnersFilesTest() : ApiFixture(true) {}
};

TEST_F(OwnersFilesTest, AreShownToNobodyElseAndTheRefusalNamesWhoMay) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  register_template();
  const int64_t item = enqueue("one.mrc");
  activate(item);
  const std::string target = "/v1/items/" + std::to_string(item);
  EXPECT_EQ(get(target + "/log").at("status"), 200);
  as_nobody([&] {
    for (const char* action : {"/log", "/results", "/script"}) {
      EXPECT_THAT(get(target + action).dump(),
                  AllOf(HasSubstr("for its owner, root, alone"),
                        HasSubstr("results.readers: owner"), HasSubstr("\"status\":403")));
    }
    EXPECT_EQ(get(target).at("status"), 200);
    EXPECT_EQ(get("/v1/items/9/log").at("status"), 404);
    return 0;
  });
}

TEST_F(JobFilesTest, ALogIsReadInPiecesWithoutCuttingLetters) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  const std::string target = "/v1/items/" + std::to_string(item) + "/log?offset=";
  EXPECT_EQ(get(target + "0").at("status"), 404);
  activate(item);
  EXPECT_EQ(get(target + "0").at("size"), 0);
  EXPECT_EQ(get(target + "0&attempt=1").at("attempt"), 1);
  EXPECT_THAT(get(target + "0&attempt=2").dump(), HasSubstr("has no attempt 2; its newest is 1"));
  std::string text = "x";
  while (text.size() < 600'000) text += "é";
  write("a" + std::to_string(item) + "/job.log", text);
  std::string read;
  for (size_t pieces = 0; pieces < 5 && read.size() < text.size(); ++pieces) {
    const json piece = get(target + std::to_string(read.size()));
    EXPECT_FALSE(piece.contains("text_base64"));
    read += piece.at("text").get<std::string>();
    EXPECT_EQ(piece.at("next_offset"), read.size());
  }
  EXPECT_EQ(read, text);
}

TEST_F(JobFilesTest, ResultsTellPeaksAndTheFilesThatAreThere) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  const std::string target = "/v1/items/" + std::to_string(item) + "/results";
  EXPECT_EQ(get(target).at("status"), 404);
  const db::Attempt attempt = activate(item);
  const std::string name = "a" + std::to_string(item);
  db::Result result;
  result.item_id = item;
  result.attempt_id = attempt.id;
  result.peaks = 1;
  result.peaks_csv = write(name + "/peaks.csv",
                           "pos_x_img,pos_y_img,scaled_mip,mip,phi,theta,psi,relative_defocus\n"
                           "334,382,12.5,14,1,2,3,-200\n");
  result.manifest_path = write(name + "/manifest.json", "{}");
  result.manifest_json = json{{"outputs",
                               {{"mip", {{"path", write(name + "/mip.mrc")}}},
                                {"psi", {{"path", file("pruned.mrc")}}},
                                {"peaks_csv", {{"path", result.peaks_csv}}}}},
                              {"pictures", {{"scaled_mip", write(name + "/scaled_mip.png")}}}}
                             .dump();
  db::ResultStore(*database_).insert(result);
  const json answer = get(target).at("result");
  EXPECT_EQ(answer.at("peak_list").size(), 1U);
  EXPECT_EQ(answer.at("peak_list").at(0).at("x"), 334);
  EXPECT_EQ(answer.at("maps").size(), 1U);
  EXPECT_TRUE(answer.at("maps").contains("mip"));
  EXPECT_EQ(answer.at("pictures").at("scaled_mip"), file(name + "/scaled_mip.png"));
}

TEST_F(JobFilesTest, OfAResultOnlyTheFilesInItsAttemptsFolderAreNamed) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  const db::Attempt attempt = activate(item);
  const std::string name = "a" + std::to_string(item);
  const std::string secret = write("secret.mrc", "secret");
  const std::string link = file(name + "/link.mrc");
  std::filesystem::create_symlink(secret, link);
  std::filesystem::create_directory_symlink(file(""), file(name + "/folder"));
  db::Result result;
  result.item_id = item;
  result.attempt_id = attempt.id;
  result.peaks_csv = write(name + "/peaks.csv");
  result.manifest_path = write(name + "/manifest.json", "{}");
  result.manifest_json =
      json{{"outputs",
            {{"mip", {{"path", write(name + "/mip.mrc")}}},
             {"psi", {{"path", secret}}},
             {"phi", {{"path", file(name + "/../secret.mrc")}}},
             {"theta", {{"path", file(name + "/folder/secret.mrc")}}},
             {"relative_defocus", {{"path", link}}}}},
           {"pictures", {{"passwords", "/etc/passwd"}, {"relative", name + "/mip.mrc"}}}}
          .dump();
  db::ResultStore(*database_).insert(result);
  const json answer = get("/v1/items/" + std::to_string(item) + "/results").at("result");
  EXPECT_EQ(answer.at("maps"), json({{"mip", file(name + "/mip.mrc")}}));
  EXPECT_EQ(answer.at("pictures"), json::object());
}

}  // namespace
}  // namespace scheduler
