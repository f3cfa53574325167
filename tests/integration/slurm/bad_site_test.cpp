// A fault of the site holds the queue with one clear sentence, loses nothing, and the queue resumes
// by itself once the fault is fixed. The token is readable by nobody else, and a hanging slurmrestd
// delays no user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BadSite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (SlurmBed::missing().empty()) bed_ = std::make_unique<SlurmBed>(BedOptions{.nodes = 2});
  }
  static void TearDownTestSuite() { bed_.reset(); }
  void SetUp() override {
    if (!bed_) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  }
  void TearDown() override {
    if (HasFailure() && queue_) std::cout << queue_->kill_daemon(SIGKILL).error;
    queue_.reset();
    if (bed_) bed_->rotate_token();
  }

  void start(const SiteOptions& site) {
    queue_ = std::make_unique<SlurmQueue>(*bed_, site);
    queue_->start_daemon();
    queue_->add_template();
  }
  nlohmann::json status() const {
    const Finished answer = queue_->margay({"status", "--json"});
    EXPECT_EQ(answer.exit_code, 0) << answer.error;
    return nlohmann::json::parse(answer.output);
  }
  // Waits until `margay status` reports a fault that names `what`, and returns its sentence.
  void expect_held(const std::string& what) {
    std::string said;
    EXPECT_TRUE(QueueAtWork::becomes_true([&] {
      const nlohmann::json now = status();
      said = now.value("lane_hold", "") + now.value("problem", "");
      return said.find(what) != std::string::npos;
    })) << said;
    std::cout << "says|" << what << "|" << said << std::endl;
    EXPECT_THAT(queue_->margay({"status"}).output, HasSubstr(what));
  }
  void expect_all_done_once(int items) {
    EXPECT_TRUE(QueueAtWork::becomes_true([&] {
      const auto states = queue_->item_states();
      return std::ranges::all_of(states, [](const auto& s) { return s.second == "DONE"; });
    })) << queue_->margay({"list"}).output;
    std::map<int, int> once;
    for (int item = 1; item <= items; ++item) once[item] = 1;
    EXPECT_EQ(queue_->effects("finished"), once);
    EXPECT_EQ(status().value("lane_hold", "") + status().value("problem", ""), "");
  }

  inline static std::unique_ptr<SlurmBed> bed_;
  std::unique_ptr<SlurmQueue> queue_;
};

TEST_F(BadSite, AWrongPartitionHoldsTheQueueUntilItIsMended) {
  start({.slurm = "  options: {partition: nowhere}\n"});
  queue_->enqueue();
  queue_->enqueue();
  expect_held("partition");
  // Between two tries.
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue_->state_of(1) == "QUEUED"; }));
  // The administrator makes the partition.
  bed_->scontrol({"create", "PartitionName=nowhere", "Nodes=ALL", "State=UP"});
  expect_all_done_once(2);
  bed_->scontrol({"delete", "PartitionName=nowhere"});
}

TEST_F(BadSite, AWrongAccountHoldsTheQueueUntilItIsMended) {
  start({.slurm = "  options: {account: nobodys}\n"});
  queue_->enqueue();
  expect_held("account");
  bed_->output_of({"sacctmgr", "-i", "add", "account", "nobodys", "Organization=x"});
  bed_->output_of({"sacctmgr", "-i", "add", "user", bed_->user(), "Account=nobodys",
                   "QOS=normal,low,high", "DefaultQOS=normal"});
  expect_all_done_once(1);
}

TEST_F(BadSite, AnExpiredTokenHoldsTheQueueUntilThereIsANewOne) {
  start({});
  bed_->rotate_token(1);
  expect_held("token");
  queue_->enqueue();
  EXPECT_EQ(queue_->state_of(1), "QUEUED");
  bed_->rotate_token();
  expect_all_done_once(1);
}

TEST_F(BadSite, AnAbsentSlurmrestdHoldsTheQueueUntilItIsThere) {
  bed_->fault(Service::kRest, Fault::kStop);
  start({});
  expect_held("slurmrestd");
  queue_->enqueue();
  EXPECT_EQ(queue_->state_of(1), "QUEUED");
  bed_->fault(Service::kRest, Fault::kStart);
  expect_all_done_once(1);
}

TEST_F(BadSite, AnAbsentTokenFileHoldsTheQueueUntilItIsThere) {
  const std::string later = bed_->files() + "/later-token";
  start({.token_file = later});
  expect_held("later-token");
  queue_->enqueue();
  fs::copy_file(bed_->token_file(), later);
  give_file(later, bed_->user());
  expect_all_done_once(1);
}

TEST_F(BadSite, TheListIsAnsweredWhileSlurmrestdHangs) {
  start({.timeout = "20s"});
  queue_->let_searches_wait();
  queue_->enqueue();
  ASSERT_TRUE(queue_->comes_to(1, "RUNNING"));
  bed_->fault(Service::kRest, Fault::kHang);
  // For longer than several polls, so that one of the questions falls into a request.
  for (int i = 0; i < 40; ++i) {
    const auto asked = std::chrono::steady_clock::now();
    EXPECT_EQ(queue_->margay({"list"}).exit_code, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(1));
  }
  bed_->fault(Service::kRest, Fault::kUnhang);
  queue_->let_searches_go();
  expect_all_done_once(1);
}

// In every file below `folder`, databases included, but for our own programs.
std::vector<std::string> files_with(const std::string& folder, const std::string& text) {
  std::vector<std::string> found;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator at(folder); at != end; ++at) {
    const fs::directory_entry& entry = *at;
    if (entry.path() == folder + "/bin") at.disable_recursion_pending();
    if (entry.is_regular_file() && text_of(entry.path()).find(text) != std::string::npos) {
      found.push_back(entry.path());
    }
  }
  return found;
}

TEST_F(BadSite, TheTokenIsInNoLogScriptDatabaseOrAnswer) {
  const std::string token =
      text_of(bed_->token_file()).substr(0, text_of(bed_->token_file()).find('\n'));
  ASSERT_GT(token.size(), 50U);
  start({});
  std::string said;
  const auto ask = [&](const std::vector<std::string>& command) {
    const Finished answer = queue_->margay(command);
    said += answer.output + answer.error;
  };
  queue_->enqueue();
  expect_all_done_once(1);
  // And when it is refused: expired, cut short, no token at all.
  const std::string expired = bed_->rotate_token(1);
  expect_held("token");
  for (const char* word : {"status", "doctor", "list"}) ask({word});
  std::ofstream(bed_->token_file()) << token.substr(0, 60) << "\n";
  QueueAtWork::becomes_true([&] { return !status().value("problem", "").empty(); });
  for (const char* word : {"status", "doctor", "list"}) ask({word});
  bed_->rotate_token();
  ask({"show", "1", "--json"});
  ask({"show", "1"});
  const Finished daemon = queue_->kill_daemon(SIGTERM);
  said += daemon.output + daemon.error;
  for (const std::string& secret :
       {token, token.substr(token.rfind('.') + 1), token.substr(0, 60), expired}) {
    EXPECT_THAT(said, ::testing::Not(HasSubstr(secret)));
    EXPECT_THAT(files_with(queue_->folder().path(), secret), ::testing::IsEmpty());
  }
  EXPECT_FALSE(files_with(queue_->folder().path(), "margayd").empty() && said.empty());
}

}  // namespace
}  // namespace tests
