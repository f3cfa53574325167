#include "slurm/job/process_identity.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "slurm/job/job_folder.h"

namespace slurm {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(ProcessRecord, ARecordComesBackWithNewlinesBlanksAndBackslashesInItsValues) {
  const Record record = {{"a", "two\nlines"}, {"b", " \\n is not a newline\\"}, {"c", "x=y"}};
  EXPECT_THAT(decode(encode(record)), Optional(Eq(record)));
}

TEST(ProcessRecord, ARecordCutShortAnywhereIsNone) {
  const std::string whole = encode({{"exit_code", "12"}, {"signal", "9"}});
  for (size_t length = 0; length + 1 < whole.size(); ++length) {
    EXPECT_EQ(decode(whole.substr(0, length)), std::nullopt) << length;
  }
}

TEST(ProcessRecord, AProcessKnowsItselfAndIsAlive) {
  const ProcessTable table;
  const auto self = table.identify(getpid());
  ASSERT_TRUE(self);
  EXPECT_TRUE(table.alive(*self));
  EXPECT_EQ(to_identity(to_record(*self)).start_ticks, self->start_ticks);
}

TEST(ProcessRecord, AnotherStartTimeOrAnotherBootIsAnotherProcess) {
  const ProcessTable table;
  ProcessIdentity later = table.identify(getpid()).value();
  later.start_ticks += 1;
  EXPECT_FALSE(table.alive(later));
  ProcessIdentity other_boot = table.identify(getpid()).value();
  other_boot.boot_id = "00000000-0000-0000-0000-000000000000";
  EXPECT_FALSE(table.alive(other_boot));
  EXPECT_FALSE(table.signal(other_boot, 0));
  EXPECT_TRUE(table.session_of(other_boot, "MARK=1").empty());
}

TEST(ProcessRecord, AZombieHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(ProcessTable().identify(child), std::nullopt);
  waitpid(child, nullptr, 0);
}

TEST(ProcessRecord, ProcessesThatEndDuringALookDoNotDisturbIt) {
  const pid_t crowd = fork();
  if (crowd == 0) {
    for (;;) {
      for (int i = 0; i < 8; ++i) {
        if (fork() == 0) _exit(0);
      }
      while (waitpid(-1, nullptr, 0) > 0) {
      }
    }
  }
  const ProcessTable table;
  ProcessIdentity leader = table.identify(getpid()).value();
  leader.pid = getsid(0);
  for (int i = 0; i < 500; ++i) EXPECT_NO_THROW(table.session_of(leader, "MARK=1"));
  kill(crowd, SIGKILL);
  waitpid(crowd, nullptr, 0);
}

TEST(ProcessRecord, ARecordThatIsNotThereIsNotAnErrorButAnUnreadableFolderIs) {
  EXPECT_EQ(JobFolder("/proc/self").read("no-such-file"), std::nullopt);
  EXPECT_THROW(JobFolder("/proc/self/no-such-folder"), std::system_error);
}

}  // namespace
}  // namespace slurm
