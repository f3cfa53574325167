#include "scheduler/cli/items/wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>

#include "base/json.h"
#include "tests/fakes/fake_http.h"
#include "tests/scratch_folder.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

const json kItem = {{"id", 1},
                    {"state", "ACTIVE"},
                    {"micrograph", "/a.mrc"},
                    {"owner_uid", 0},
                    {"priority", "normal"},
                    {"owner", "root"},
                    {"progress", nullptr}};

TEST(Wait, ADaemonWithTooMuchToDoIsAskedAgain) {
  const tests::ScratchFolder folder;
  std::atomic<int> asked = 0;
  const tests::FakeHttp daemon(0, folder.file("s.sock"), [&](const tests::FakeHttpRequest&) {
    ++asked;
    if (asked == 2 || asked == 3) {
      const json busy = {{"error", {{"kind", "busy"}, {"message", "too many requests"}}}};
      return tests::FakeHttpReply{.status = 429, .body = busy.dump()};
    }
    json item = kItem;
    if (asked > 4) item["state"] = "DONE";
    return tests::FakeHttpReply{.body = json{{"items", json::array({item})}}.dump()};
  });
  std::ostringstream out;
  std::ostringstream error;
  const Context context({.path = folder.file("s.sock")}, false, {}, out, error);
  EXPECT_EQ(wait(context, {.items = {1}, .poll = milliseconds(1)}), Exit::kOk);
  EXPECT_THAT(out.str(), testing::HasSubstr("item 1  DONE"));
  asked = 1;
  EXPECT_THROW(wait(context, {.items = {1}, .daemon_timeout = milliseconds(0)}), Failure);
}

TEST(Wait, ForAnItemThatIsRemovedMeanwhileEnds) {
  const tests::ScratchFolder folder;
  std::atomic<int> asked = 0;
  const tests::FakeHttp daemon(0, folder.file("s.sock"), [&](const tests::FakeHttpRequest&) {
    json items = json::array();
    if (++asked <= 3) items.push_back(kItem);
    return tests::FakeHttpReply{.body = json{{"items", items}}.dump()};
  });
  std::ostringstream out;
  std::ostringstream error;
  const Context context({.path = folder.file("s.sock")}, false, {}, out, error);
  EXPECT_EQ(wait(context, {.items = {1}, .poll = milliseconds(1)}), Exit::kFailed);
  EXPECT_THAT(error.str(), testing::HasSubstr("item 1 was removed while it was waited for"));
}

}  // namespace
}  // namespace scheduler::cli
