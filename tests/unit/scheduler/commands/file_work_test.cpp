#include "scheduler/commands/file_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

#include "scheduler/errors.h"
#include "tests/fakes/gate.h"
#include "tests/wait_until.h"

namespace scheduler {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Sign = FileWork::Sign;

constexpr int64_t kUser = 1;

TEST(FileWork, ReturnsWhatTheWorkReturnsAndThrowsWhatItThrows) {
  FileWork files({.threads = {.timeout = hours(1)}});
  EXPECT_EQ(files.ask<int>(kUser, "/a", [](const Sign& sign) { return sign("/a") ? 7 : 0; }), 7);
  const auto fails = [](const Sign&) -> int { throw std::runtime_error("it is empty"); };
  EXPECT_THAT([&] { files.ask<int>(kUser, "/a", fails); },
              ThrowsMessage<std::runtime_error>("it is empty"));
}

TEST(FileWork, OneWorkOfAUserIsDoneAfterTheOther) {
  FileWork files({.threads = {.timeout = hours(1)}});
  const tests::SharedGate gate;
  gate->close();
  const auto begun = std::make_shared<std::atomic<int>>(0);
  const std::function<int(const Sign&)> work = [begun, gate = gate.share()](const Sign&) {
    const int number = ++*begun;
    gate->pass();
    return number;
  };
  const auto ask = [&] { return files.ask<int>(kUser, "/a", work); };
  auto first = std::async(std::launch::async, ask);
  auto second = std::async(std::launch::async, ask);
  ASSERT_TRUE(tests::becomes_true([&] { return *begun == 1; }));
  gate->open();
  EXPECT_EQ(first.get() + second.get(), 3);
}

TEST(FileWork, ThatIsSilentIsGivenUpAndFindsOut) {
  FileWork files({.threads = {.timeout = milliseconds(200)}});
  const tests::SharedGate gate;
  gate->close();
  const auto is_wanted = std::make_shared<std::promise<bool>>();
  auto wanted = is_wanted->get_future();
  const std::function<int(const Sign&)> work = [is_wanted, gate = gate.share()](const Sign& sign) {
    gate->pass();
    is_wanted->set_value(sign("/home/v.mrc"));
    return 1;
  };
  EXPECT_THAT([&] { files.ask<int>(kUser, "/home/v.mrc", work); },
              ThrowsMessage<Unavailable>(HasSubstr("'/home/v.mrc' has not answered for ")));
  gate->open();
  EXPECT_FALSE(wanted.get());
}

TEST(FileWork, ThatNeverEndsIsGivenUpHoweverOftenItGivesASign) {
  FileWork files({.threads = {.timeout = hours(1)}, .longest = milliseconds(100)});
  const std::function<int(const Sign&)> endless = [](const Sign& sign) {
    while (sign("/home/v.mrc")) continue;
    return 1;
  };
  EXPECT_THAT([&] { files.ask<int>(kUser, "/home/v.mrc", endless); },
              ThrowsMessage<Unavailable>(HasSubstr("'/home/v.mrc' was not read within 0 s")));
}

}  // namespace
}  // namespace scheduler
