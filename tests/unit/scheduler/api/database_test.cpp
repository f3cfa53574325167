// Copies of the database by the daemon, and looking at it.
#include <gmock/gmock.h>

#include <filesystem>

#include "db/items.h"
#include "db/verify.h"
#include "tests/unit/scheduler/api/api_test_fixture.h"

namespace scheduler {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ApiDatabaseTest : public ApiTest {
 protected:
  json back_up(const std::string& path) const {
    return post("/v1/database/backup", {{"path", path}});
  }
  static std::string message_of(const json& answer) { return answer.at("error").at("message"); }
};

TEST_F(ApiDatabaseTest, IsCopiedWhileATransactionIsOpen) {
  register_template();
  enqueue("a.mrc");
  db::Transaction transaction(*database_);
  db::ItemStore(*database_).set_state(1, db::ItemState::kHeld, "not committed", 1);
  const json made = back_up(file("copy.db"));
  EXPECT_EQ(made.at("status"), 200);
  EXPECT_EQ(made.at("path"), file("copy.db"));
  EXPECT_EQ(made.at("database"), file("margay.db"));
  EXPECT_EQ(made.at("bytes"), std::filesystem::file_size(file("copy.db")));
  const db::Verification copy = db::verify_database(file("copy.db"));
  EXPECT_TRUE(copy.problems.empty());
  EXPECT_EQ(copy.item_states.at(0).first, "QUEUED");
}

TEST_F(ApiDatabaseTest, ACopyThatCannotBeMadeIsRefusedAndTheNextOneIsNot) {
  write("there", "mine");
  json refused = back_up(file("there"));
  EXPECT_EQ(refused.at("status"), 409);
  EXPECT_THAT(message_of(refused), HasSubstr("'" + file("there") + "' exists"));
  EXPECT_EQ(post("/v1/database/backup", {{"path", "relative"}}).at("status"), 400);
  EXPECT_EQ(post("/v1/database/backup", json::object()).at("status"), 400);
  refused = back_up(file("none/copy.db"));
  EXPECT_EQ(refused.at("status"), 400);
  EXPECT_THAT(message_of(refused), HasSubstr(file("none/copy.db")));
  EXPECT_EQ(back_up(file("copy.db")).at("status"), 200);
  EXPECT_EQ(post("/v1/database/other", json::object()).at("status"), 404);
}

TEST_F(ApiDatabaseTest, VerificationsCountAndNameProblems) {
  register_template();
  enqueue("a.mrc");
  json found = post("/v1/database/verify", json::object());
  EXPECT_EQ(found.at("status"), 200);
  EXPECT_EQ(found.at("item_states"), (json{{"QUEUED", 1}}));
  EXPECT_EQ(found.at("problems"), json::array());
  activate(1);
  found = post("/v1/database/verify", json::object());
  EXPECT_EQ(found.at("open_attempts"), 1);
  EXPECT_THAT(found.at("problems").at(0).at("says"), HasSubstr("has no job"));
  EXPECT_NE(found.at("problems").at(0).at("advice"), "");
}

TEST_F(ApiDatabaseTest, IsForRootAndTheDaemonsUserAlone) {
  for (const char* action : {"backup", "verify"}) {
    const int status = as_nobody([&] {
      return post(std::string("/v1/database/") + action, {{"path", file("copy.db")}})
          .at("status")
          .get<int>();
    });
    if (status == -1) GTEST_SKIP() << "needs root, to become another user";
    EXPECT_EQ(status, 403);
  }
  EXPECT_FALSE(std::filesystem::exists(file("copy.db")));
}

}  // namespace
}  // namespace scheduler
