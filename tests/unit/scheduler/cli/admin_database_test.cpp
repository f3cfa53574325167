#include <gmock/gmock.h>

#include <filesystem>

#include "db/backup.h"
#include "db/verify.h"
#include "scheduler/files/jobs_owner.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class AdminDatabaseTest : public CliTest {
 protected:
  // The folder of the test is the state folder of a daemon that has ended.
  void end_daemon() {
    std::filesystem::create_directory(file("jobs"));
    claim_jobs(file("jobs"), database_->instance());
    server_.reset();
    service_.reset();
    commands_.reset();
    queue_.reset();
    database_.reset();
  }
};

TEST_F(AdminDatabaseTest, ABackupIsTheDaemonsOrTakenFromTheFile) {
  register_template();
  enqueue("a.mrc");
  const Outcome by_daemon = margay({"admin", "backup", file("one.db")});
  EXPECT_EQ(by_daemon.exit, 0) << by_daemon.error;
  EXPECT_THAT(by_daemon.out, HasSubstr(file("margay.db") + " copied to " + file("one.db") + ": "));
  const Outcome direct = margay({"admin", "backup", file("two.db"), "--state", folder_, "--json"});
  EXPECT_EQ(direct.exit, 0) << direct.error;
  EXPECT_EQ(direct.document().at("path"), file("two.db"));
  for (const char* copy : {"one.db", "two.db"}) {
    EXPECT_EQ(db::verify_database(file(copy)).items, 1) << copy;
    EXPECT_EQ(margay({"admin", "backup", file(copy)}).exit, 6);
    EXPECT_EQ(margay({"admin", "backup", file(copy), "--state", folder_}).exit, 6);
  }
  EXPECT_EQ(margay({"admin", "backup", file("x"), "--state", file("none")}).exit, 4);
}

TEST_F(AdminDatabaseTest, ARelativeNameIsOneOfTheCallersFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const Outcome made = margay({"admin", "backup", "relative.db"});
  std::filesystem::current_path(before);
  EXPECT_EQ(made.exit, 0) << made.error;
  EXPECT_TRUE(std::filesystem::exists(file("relative.db")));
}

TEST_F(AdminDatabaseTest, WithoutADaemonItSaysHowToDoWithoutOne) {
  end_daemon();
  const Outcome refused = margay({"admin", "backup", file("one.db")});
  EXPECT_EQ(refused.exit, 7);
  EXPECT_THAT(refused.error, HasSubstr("give its --config or --state"));
}

TEST_F(AdminDatabaseTest, VerifyCountsAndExitsWith1WhereThereIsAProblem) {
  register_template();
  enqueue("a.mrc");
  db::copy_database(database_->connection(), file("copy.db"));
  for (const Words& which : {Words{}, {file("copy.db")}, {"--state", folder_}}) {
    Words words = {"admin", "verify"};
    words.insert(words.end(), which.begin(), which.end());
    const Outcome good = margay(words);
    EXPECT_EQ(good.exit, 0) << good.error;
    EXPECT_THAT(good.out,
                AllOf(HasSubstr("items      1 (1 QUEUED)"), HasSubstr("No problem was found.")));
  }
  set_state(1, db::ItemState::kActive);
  const Outcome bad = margay({"admin", "verify"});
  EXPECT_EQ(bad.exit, 1);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("PROBLEM    item 1 is ACTIVE"), HasSubstr("-> restore")));
  EXPECT_EQ(margay({"admin", "verify", "--json"}).document().at("problems").size(), 1U);
  EXPECT_EQ(margay({"admin", "verify", file("none")}).exit, 4);
}

TEST_F(AdminDatabaseTest, RestoreWantsToKnowWhichDatabaseAndThatItIsFree) {
  db::copy_database(database_->connection(), file("copy.db"));
  Outcome refused = margay({"admin", "restore", file("copy.db")});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.error, HasSubstr("--config or --state"));
  refused = margay({"admin", "restore", file("copy.db"), "--state", folder_});
  EXPECT_EQ(refused.exit, 6);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("held by process"), HasSubstr("margay stop")));
}

TEST_F(AdminDatabaseTest, RestoreSaysWhatItDidAndWhatTheDaemonWillDo) {
  register_template();
  enqueue("a.mrc");
  db::copy_database(database_->connection(), file("copy.db"));
  end_daemon();
  for (const char* attempt : {"jobs/1/a1/claim", "jobs/5/a1/claim"}) {
    std::filesystem::create_directories(file(attempt));
  }
  const Words words = {"admin", "restore", file("copy.db"), "--state", folder_};
  const Outcome restored = margay(words);
  EXPECT_EQ(restored.exit, 0) << restored.error;
  EXPECT_THAT(restored.out,
              AllOf(HasSubstr(file("copy.db") + " is restored as " + file("margay.db")),
                    HasSubstr("is kept as " + file("margay.db.before-restore-")),
                    HasSubstr("look up the jobs and results of 1 item submitted"),
                    HasSubstr("stop the jobs of 1 item enqueued after the copy"),
                    HasSubstr("their folders stay: 5")));
  Words with_json = words;
  with_json.emplace_back("--json");
  const json document = margay(with_json).document();
  EXPECT_EQ(document.at("looked_up"), (json{1}));
  EXPECT_EQ(document.at("unknown_items"), (json{5}));
}

TEST_F(AdminDatabaseTest, ADamagedCopyIsShownAndRefused) {
  const std::string copy = write("copy.db", std::string(4096, 'x'));
  end_daemon();
  const Outcome refused = margay({"admin", "restore", copy, "--state", folder_});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.out, HasSubstr("PROBLEM"));
  EXPECT_THAT(refused.error, AllOf(HasSubstr("not a database"), HasSubstr("nothing was changed")));
}

}  // namespace
}  // namespace scheduler
