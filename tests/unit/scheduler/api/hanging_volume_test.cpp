// `template add` with volumes on file systems that do not answer.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <future>
#include <vector>

#include "tests/fakes/gate.h"
#include "tests/unit/scheduler/api/api_fixture.h"
#include "tests/wait_until.h"

namespace scheduler {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

// Every connection is another user's, unless the test sets one.
class HangingVolumeTest : public ApiFixture {
 protected:
  HangingVolumeTest() {
    std::filesystem::create_directory(file("share"));
    serve({.threads = {.timeout = milliseconds(300)}});
  }
  ~HangingVolumeTest() override {
    gate_->open();
    server_.reset();
  }

  void serve(FileWorkOptions options) {
    server_.reset();
    options.before = [gate = gate_.share(), begun = begun_](const std::string& path) {
      ++*begun;
      if (path.find("share/") != std::string::npos) gate->pass();
    };
    service_ = std::make_unique<api::Service>(*database_, *commands_,
                                              api::DaemonHooks{.wake = [] {}}, std::move(options));
    server_ = std::make_unique<api::HttpServer>(
        api::ServerOptions{.socket = file("s.sock"),
                           .peer = [this](int) { return api::Peer{.uid = next_uid()}; },
                           .takes_long = api::takes_long},
        [this](api::Request& request) { return service_->handle(request); });
  }
  uid_t next_uid() { return user_ != 0 ? user_.load() : ++last_user_; }

  json add(const std::string& volume) {
    const std::string name = "t" + std::to_string(++names_);
    const base::Descriptor open_volume(::open(volume.c_str(), O_RDONLY | O_CLOEXEC));
    return post("/v1/templates",
                {{"name", name}, {"path", volume}, {"file", 0}, {"search_yaml", search_settings()}},
                {open_volume.get()});
  }
  std::future<json> begin_to_add(const std::string& volume) {
    return std::async(std::launch::async, [this, volume] { return add(volume); });
  }
  static std::string message_of(const json& answer) { return answer.at("error").at("message"); }

  std::atomic<uid_t> user_ = 0;
  std::atomic<uid_t> last_user_ = 2000;
  std::atomic<int> names_ = 0;
  const std::shared_ptr<std::atomic<int>> begun_ = std::make_shared<std::atomic<int>>(0);
  tests::SharedGate gate_;
};

TEST_F(HangingVolumeTest, KeepsNobodyElseFromAddingTemplates) {
  serve({.threads = {.timeout = std::chrono::hours(1)}});
  gate_->close();
  const std::string hanging = write("share/v.mrc");
  std::vector<std::future<json>> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(begin_to_add(hanging));
  ASSERT_TRUE(tests::becomes_true([this] { return *begun_ == 5; })) << "side by side";
  EXPECT_EQ(add(write("good.mrc")).at("status"), 200);
  gate_->open();
  for (auto& answer : waiting) EXPECT_EQ(answer.get().at("status"), 200);
}

TEST_F(HangingVolumeTest, IsAnsweredWithWhatToDo) {
  gate_->close();
  const std::string hanging = write("share/v.mrc");
  user_ = 1500;
  const json answer = add(hanging);
  EXPECT_EQ(answer.at("status"), 503);
  EXPECT_EQ(answer.at("error").at("kind"), "unavailable");
  EXPECT_THAT(message_of(answer),
              AllOf(HasSubstr("the file system of '" + hanging + "' has not answered for "),
                    HasSubstr(" s; try again when it does")));
  EXPECT_THAT(message_of(add(write("good.mrc"))), HasSubstr("'" + hanging + "' has not answered"))
      << "one thread for each user";
  gate_->open();
  EXPECT_TRUE(tests::becomes_true([&] { return add(hanging).at("status") == 200; }));
}

TEST_F(HangingVolumeTest, WithMicrographsOnItKeepsNobodyElseFromAnswers) {
  const std::string hanging = write("share/m.mrc");
  gate_->close();
  const auto enqueue = [&] {
    const base::Descriptor file(::open(hanging.c_str(), O_RDONLY | O_CLOEXEC));
    const json ctf = {
        {"defocus_u", 1}, {"defocus_v", 1}, {"astigmatism_angle", 0}, {"phase_shift", 0}};
    return post("/v1/items",
                {{"template", "t"},
                 {"priority", "normal"},
                 {"items", {{{"path", hanging}, {"file", 0}, {"ctf", ctf}}}}},
                {file.get()});
  };
  std::vector<std::future<json>> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(std::async(std::launch::async, enqueue));
  EXPECT_TRUE(tests::becomes_true([this] { return *begun_ >= 8; }))
      << "as many as there are threads";
  EXPECT_EQ(get("/v1/templates").at("status"), 200);
  for (auto& answer : waiting) {
    EXPECT_THAT(message_of(answer.get()), HasSubstr("'" + hanging + "' has not answered for "));
  }
}

TEST_F(HangingVolumeTest, IsNotWaitedForWhenTheDaemonEnds) {
  serve({.threads = {.timeout = std::chrono::hours(1)}});
  gate_->close();
  auto waiting = begin_to_add(write("share/v.mrc"));
  ASSERT_TRUE(tests::becomes_true([this] { return *begun_ == 1; }));
  service_->stop_waiting();
  EXPECT_THAT(message_of(waiting.get()),
              HasSubstr("margayd is stopping; try again once it has been restarted"));
  server_.reset();
}

}  // namespace
}  // namespace scheduler
