#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "tests/unit/scheduler/api/api_test_fixture.h"

namespace scheduler {
namespace {

using api::Descriptor;
using nlohmann::json;
using testing::HasSubstr;

TEST_F(ApiTest, AnEnqueuedItemHasItsOwnerCtfAndFile) {
  register_template();
  const std::string path = write("one.mrc");
  const Descriptor file = open_file(path);
  const json item = enqueue_one(path, file.get()).at("item");
  EXPECT_EQ(item.at("micrograph"), path);
  EXPECT_EQ(item.at("template"), "ribosome@1");
  EXPECT_EQ(item.at("state"), "QUEUED");
  EXPECT_EQ(item.at("owner_uid"), ::getuid());
  EXPECT_EQ(item.at("micrograph_size"), tests::small_mrc("one.mrc").size());
  EXPECT_EQ(item.at("ctf").at("defocus_u"), 10200);
  EXPECT_EQ(get("/v1/items/1").at("item").at("id"), item.at("id"));
  EXPECT_GT(wakes_, 0);
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

TEST_F(ApiTest, ABriefAnswerNamesTheNewItemAndItsFile) {
  register_template();
  const std::string path = write("one.mrc");
  const Descriptor file = open_file(path);
  json body = enqueue_body(json::array({entry(path)}));
  body["brief"] = true;
  const json item = post("/v1/items", body, {file.get()}).at("items").at(0).at("item");
  const json whole = get("/v1/items").at("items").at(0);
  EXPECT_EQ(item, (json{{"id", whole.at("id")},
                        {"micrograph", whole.at("micrograph")},
                        {"priority", whole.at("priority")}}));
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

}  // namespace
}  // namespace scheduler
