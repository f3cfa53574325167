#include "slurm/job/process_identity.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/signalfd.h>
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

// A process that reads SIGUSR1 from the signalfd that `prepare` makes, and ends with 0 when it
// came.
template <typename Prepare>
ProcessIdentity waiting_process(Prepare prepare) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const int signals = prepare();
    [[maybe_unused]] const ssize_t written = write(ready[1], "r", 1);
    signalfd_siginfo info;
    const bool came = read(signals, &info, sizeof info) == sizeof info;
    _exit(came && info.ssi_signo == SIGUSR1 ? 0 : 1);
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return ProcessTable().identify(child).value();
}

TEST(ProcessTable, ASignalThatIsBlockedAndReadByADescriptorIsHandled) {
  const ProcessIdentity reader = waiting_process([] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return signalfd(-1, &set, 0);
  });
  const ProcessTable table;
  EXPECT_TRUE(table.handles(reader, SIGUSR1));
  EXPECT_FALSE(table.handles(reader, SIGUSR2));
  EXPECT_TRUE(table.signal(reader, SIGUSR1));
  int status = 0;
  waitpid(reader.pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ProcessTable, ASignalThatAProcessWouldDieOfIsNotHandled) {
  const ProcessIdentity deaf = waiting_process([] {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    return signalfd(-1, &none, 0);
  });
  EXPECT_FALSE(ProcessTable().handles(deaf, SIGUSR1));
  kill(deaf.pid, SIGKILL);
  waitpid(deaf.pid, nullptr, 0);
}

TEST(ProcessRecord, ARecordThatIsNotThereIsNotAnErrorButAnUnreadableFolderIs) {
  EXPECT_EQ(JobFolder("/proc/self").read("no-such-file"), std::nullopt);
  EXPECT_THROW(JobFolder("/proc/self/no-such-folder"), std::system_error);
}

}  // namespace
}  // namespace slurm
