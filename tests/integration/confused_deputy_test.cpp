// A user who may enter a folder but not read a file in it tries to have a real margayd search it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/json.h"
#include "scheduler/http/http_client.h"
#include "scheduler/http/unix_socket.h"
#include "tests/as_nobody.h"
#include "tests/integration/queue_at_work.h"
#include "tests/small_mrc.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using scheduler::api::Descriptor;
using scheduler::api::HttpClient;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

// As long as the file that is enqueued in its place.
const std::string kSecretText = [] {
  std::string text = "what nobody may read";
  text.resize(small_mrc().size(), ' ');
  return text;
}();

class ConfusedDeputy : public testing::Test {
 protected:
  ConfusedDeputy()
      : queue_(QueueOptions{.site = "socket_group: nogroup\ntick: 20ms\n"
                                    "local: {slots: 2, threads: 1, gpus: 0}\n"
                                    "intervals: {resolve: 100ms, retry: 100ms}\n"}) {}

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
    queue_.start_daemon();
    queue_.add_template();
    ::chmod(queue_.folder().path().c_str(), 0711);
    ::chmod((queue_.folder() / "state").c_str(), 0711);
    fs::create_directories(theirs_);
    ASSERT_EQ(::chown(theirs_.c_str(), kNobody, kNobody), 0);
    std::ofstream(secret_) << kSecretText;
    ::chmod(secret_.c_str(), 0600);
  }

  // As a client of margayd does it, whatever the command line would say to it.
  json post(const std::string& target, const json& body = json::object(),
            const std::vector<int>& files = {}) const {
    const auto answer = HttpClient(socket_).call(
        {.method = "POST", .target = target, .body = body.dump(), .files = files});
    return json::parse(answer.body);
  }

  // Of the same size and time as the secret, which everybody may look up.
  Descriptor write_own_file() const {
    std::ofstream(own_) << small_mrc("own");
    struct stat secret {};
    ::stat(secret_.c_str(), &secret);
    const timespec times[2] = {secret.st_atim, secret.st_mtim};
    ::utimensat(AT_FDCWD, own_.c_str(), times, 0);
    return Descriptor(::open(own_.c_str(), O_RDONLY | O_CLOEXEC));
  }

  void enqueue_held(const Descriptor& file) const {
    const json ctf = {
        {"defocus_u", 10000}, {"defocus_v", 10000}, {"astigmatism_angle", 0}, {"phase_shift", 0}};
    const json answer =
        post("/v1/items",
             {{"template", "volume"},
              {"priority", "normal"},
              {"hold", true},
              {"items", json::array({{{"path", own_}, {"file", 0}, {"ctf", ctf}}})}},
             {file.get()});
    ASSERT_EQ(answer.at("items").at(0).at("item").at("id"), 1) << answer;
  }

  json item() const {
    return json::parse(HttpClient(socket_).call({.target = "/v1/items/1"}).body).at("item");
  }
  std::string state() const { return item().at("state"); }

  // With a search of its own that it takes a second or so for.
  void let_real_engine_wait() {
    std::ofstream(queue_.folder() / "engine")
        << "#!/bin/bash\n[ \"$1\" != plan ] || exec " MARGAY_BIN_DIR
        << "/margay-engine \"$@\"\ntouch " << queue_.folder() / "waits"
        << "\nwhile [ ! -e " << queue_.folder() / "go"
        << " ]; do sleep 0.02; done\nexec " MARGAY_BIN_DIR << "/margay-engine \"$@\"\n";
    std::ofstream(queue_.folder() / "search.yaml")
        << "optics_group: {label: lsu, pixel_size: 2.0, voltage: 300.0}\n"
           "defocus_search_config: {enabled: false}\n"
           "orientation_search_config: {psi_step: 60.0, theta_step: 60.0}\n"
           "preprocessing_filters: {whitening_filter: {enabled: true}}\n"
           "computational_config: {gpu_ids: cpu}\n";
    const Finished added =
        queue_.margay({"template", "add", MARGAY_SOURCE_DIR "/tests/data/lsu_2.0A_128.mrc",
                       "--name", "volume", "--config", queue_.folder() / "search.yaml"});
    ASSERT_EQ(added.exit_code, 0) << added.error;
  }

  // What is in the folder of the first attempt.
  std::set<std::string> left_by_search() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(queue_.folder() / "state/jobs/1/a1")) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  QueueAtWork queue_;
  const std::string socket_ = queue_.folder() / "state/margay.sock";
  const std::string theirs_ = queue_.folder() / "theirs";
  const std::string own_ = queue_.folder() / "theirs/own.mrc";
  const std::string secret_ = queue_.folder() / "secret.mrc";
};

TEST_F(ConfusedDeputy, ALinkInTheMicrographsPlaceIsNotFollowed) {
  as_nobody([&] {
    enqueue_held(write_own_file());
    // At no moment is nothing there. The daemon may have opened the file before.
    fs::create_symlink(secret_, own_ + ".link");
    fs::rename(own_ + ".link", own_);
    post("/v1/items/1/release");
  });
  EXPECT_TRUE(
      QueueAtWork::becomes_true([&] { return state() != "QUEUED" && state() != "ACTIVE"; }));
  EXPECT_EQ(state(), "QUARANTINED") << item();
  EXPECT_THAT(item().at("reason"), AnyOf(HasSubstr("symbolic link"), HasSubstr("was deleted")));
  EXPECT_TRUE(queue_.effects("started").empty());
}

TEST_F(ConfusedDeputy, ALinkInTheFoldersPlaceIsNotFollowed) {
  const std::string moved = theirs_ + ".moved";
  as_nobody([&] { enqueue_held(write_own_file()); });
  fs::rename(theirs_, moved);
  fs::create_directory(queue_.folder() / "closed");
  fs::rename(secret_, queue_.folder() / "closed/own.mrc");
  fs::create_symlink(queue_.folder() / "closed", theirs_);
  as_nobody([&] { post("/v1/items/1/release"); });
  EXPECT_TRUE(
      QueueAtWork::becomes_true([&] { return state() != "QUEUED" && state() != "ACTIVE"; }));
  EXPECT_EQ(state(), "QUARANTINED") << item();
  EXPECT_TRUE(queue_.effects("started").empty());
}

TEST_F(ConfusedDeputy, AnotherFileOfTheSameSizeAndTimeIsNotTheMicrograph) {
  as_nobody([&] { enqueue_held(write_own_file()); });
  fs::rename(secret_, own_);
  as_nobody([&] { post("/v1/items/1/release"); });
  EXPECT_TRUE(
      QueueAtWork::becomes_true([&] { return state() != "QUEUED" && state() != "ACTIVE"; }));
  EXPECT_EQ(state(), "QUARANTINED") << item();
  EXPECT_THAT(item().at("reason"), AnyOf(HasSubstr("another file"), HasSubstr("was deleted")));
  EXPECT_TRUE(queue_.effects("started").empty());
}

TEST_F(ConfusedDeputy, WhatWasReadInTheMicrographsPlaceIsNoResult) {
  // As if a link had stood there just while the engine read it.
  queue_.let_search_do("micrograph=$(sum " + secret_ + ")");
  as_nobody([&] {
    enqueue_held(write_own_file());
    post("/v1/items/1/release");
  });
  EXPECT_TRUE(
      QueueAtWork::becomes_true([&] { return state() != "QUEUED" && state() != "ACTIVE"; }));
  EXPECT_EQ(state(), "QUARANTINED") << item();
  EXPECT_THAT(item().at("reason"), HasSubstr("SHA-256"));
  EXPECT_EQ(item().at("result"), nullptr);
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return !left_by_search().count("peaks.csv"); }));
  EXPECT_THAT(left_by_search(),
              ElementsAre("claim", "config.yaml", "job.log", "job.sh", "manifest.json"));
}

// The daemon looked at the right file when it launched the job, hours ago on a busy cluster.
TEST_F(ConfusedDeputy, ALinkThatIsPutThereWhileTheJobWaitsIsNotSearched) {
  const std::string crop = MARGAY_SOURCE_DIR "/tests/data/lsu_crop.mrc";
  fs::copy_file(crop, secret_, fs::copy_options::overwrite_existing);
  let_real_engine_wait();
  fs::copy_file(crop, own_);
  std::fstream(own_, std::ios::in | std::ios::out | std::ios::ate) << "another end";
  as_nobody([&] {
    enqueue_held(Descriptor(::open(own_.c_str(), O_RDONLY | O_CLOEXEC)));
    post("/v1/items/1/release");
  });
  ASSERT_TRUE(QueueAtWork::becomes_true([&] { return fs::exists(queue_.folder() / "waits"); }));
  as_nobody([&] {
    fs::rename(own_, own_ + ".own");
    fs::create_symlink(secret_, own_);
  });
  queue_.let_searches_go();
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return state() != "ACTIVE"; }));
  as_nobody([&] { fs::rename(own_ + ".own", own_); });
  EXPECT_EQ(state(), "QUARANTINED") << item();
  EXPECT_THAT(item().at("reason"), HasSubstr("was not searched: its SHA-256 has changed"));
  EXPECT_EQ(item().at("result"), nullptr);
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return !left_by_search().count("faults"); }));
  EXPECT_THAT(left_by_search(), ElementsAre("claim", "config.yaml", "job.log", "job.sh"));
}

TEST_F(ConfusedDeputy, ARetryTakesNoFileThatTheCallerHasNotOpened) {
  as_nobody([&] {
    enqueue_held(write_own_file());
    post("/v1/items/1/cancel");
    fs::remove(own_);
    fs::create_symlink(secret_, own_);
    EXPECT_EQ(post("/v1/items/1/retry").value("/error/kind"_json_pointer, ""), "invalid");
    const std::string other = theirs_ + "/other.mrc";
    std::ofstream(other) << "x";
    const Descriptor file(::open(other.c_str(), O_RDONLY | O_CLOEXEC));
    for (const std::string& path : {own_, other}) {
      const json answer = post("/v1/items/1/retry", {{"path", path}, {"file", 0}}, {file.get()});
      EXPECT_EQ(answer.value("/error/kind"_json_pointer, ""), "invalid") << answer;
    }
  });
  EXPECT_EQ(state(), "CANCELLED");
}

TEST_F(ConfusedDeputy, ARetryTakesTheFileThatTheCallerOpened) {
  as_nobody([&] {
    enqueue_held(write_own_file());
    post("/v1/items/1/cancel");
    std::ofstream(own_) << "written again";
    const Descriptor file(::open(own_.c_str(), O_RDONLY | O_CLOEXEC));
    post("/v1/items/1/retry", {{"path", own_}, {"file", 0}}, {file.get()});
  });
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return state() == "DONE"; })) << item();
}

}  // namespace
}  // namespace tests
