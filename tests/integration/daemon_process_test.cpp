// The real margayd as a process: its signals, and what it reports to systemd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kQuick = "tick: 20ms\nintervals: {resolve: 100ms, retry: 100ms}\n";

std::string with_slots(int slots) {
  return kQuick + "local: {slots: " + std::to_string(slots) + ", threads: 1, gpus: 0}\n";
}

int64_t slots_of(const QueueAtWork& queue) {
  return nlohmann::json::parse(queue.margay({"status", "--json"}).output)
      .at("device_slots")
      .get<int64_t>();
}

bool logs(const QueueAtWork& queue, const std::string& words) {
  return QueueAtWork::becomes_true(
      [&] { return queue.daemon_log().find(words) != std::string::npos; });
}

TEST(Reload, TakesANewConfigurationWhileASearchRuns) {
  QueueAtWork queue(QueueOptions{.site = with_slots(1)});
  queue.let_searches_wait();
  queue.start_daemon();
  queue.add_template();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("one.mrc")));
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("two.mrc")));
  ASSERT_TRUE(QueueAtWork::becomes_true([&] { return queue.effects("started").size() == 1; }));
  queue.configure(with_slots(2));
  queue.signal_daemon(SIGHUP);
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.effects("started").size() == 2; }));
  EXPECT_EQ(slots_of(queue), 2);
  queue.let_searches_go();
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  EXPECT_EQ(queue.item_states(), (std::map<int, std::string>{{1, "DONE"}, {2, "DONE"}}));
  EXPECT_EQ(queue.effects("started"), (std::map<int, int>{{1, 1}, {2, 1}}));
  const Finished end = queue.kill_daemon(SIGTERM);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.error, HasSubstr("site.yaml' reloaded"));
}

TEST(Log, HasTheLinesOfItsLevel) {
  QueueAtWork queue(QueueOptions{.site = with_slots(1) + "log_level: warning\n"});
  queue.start_daemon();
  queue.add_template();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("one.mrc")));
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  EXPECT_THAT(queue.daemon_log(), AllOf(Not(HasSubstr(": DONE")), Not(HasSubstr("/v1/"))));
  queue.let_search_do("echo \"finished $token\" >> \"$home/effects\"; exit 1", 2);
  queue.margay(queue.enqueue_command(queue.make_micrograph("two.mrc")));
  EXPECT_TRUE(logs(queue, ": FAILED"));
  queue.configure(with_slots(1) + "log_level: debug\n");
  queue.signal_daemon(SIGHUP);
  EXPECT_TRUE(logs(queue, "reloaded"));
  queue.margay({"list"});
  EXPECT_TRUE(logs(queue, "GET \"/v1/items\" of user " + std::to_string(::geteuid()) + ": 200"));
  queue.margay(queue.enqueue_command(queue.make_micrograph("three.mrc")));
  EXPECT_TRUE(logs(queue, ": DONE"));
  queue.configure(with_slots(1) + "log_level: loud\n");
  queue.signal_daemon(SIGHUP);
  EXPECT_TRUE(logs(queue, "log_level must be debug, info, warning or error, not 'loud'"));
}

TEST(Reload, RefusesABadConfigurationAndKeepsTheOldOne) {
  QueueAtWork queue(QueueOptions{.site = with_slots(3)});
  queue.start_daemon();
  for (const auto& [site, message] :
       {std::pair{with_slots(2) + "tik: 1s\n", "unknown key 'tik'"},
        std::pair{kQuick + "local: {slots: 0}\n", "local.slots must be between 1 and 1024"},
        std::pair{with_slots(2) + "templates: /nowhere\n", "/nowhere"}}) {
    queue.configure(site);
    queue.signal_daemon(SIGHUP);
    EXPECT_TRUE(logs(queue, message)) << queue.daemon_log();
    EXPECT_EQ(slots_of(queue), 3) << site;
  }
  EXPECT_THAT(queue.daemon_log(), HasSubstr("configuration not reloaded, the running one is kept"));
  queue.configure(with_slots(2));
  queue.signal_daemon(SIGHUP);
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return slots_of(queue) == 2; }));
  EXPECT_EQ(queue.kill_daemon(SIGTERM).exit_code, 0);
}

TEST(Reload, SaysWhatOnlyARestartApplies) {
  QueueAtWork queue(QueueOptions{.site = with_slots(1)});
  queue.start_daemon();
  queue.configure(with_slots(2) + "socket: " + (queue.folder() / "other.sock") +
                  "\nlimits: {requests_per_second: 50}\n");
  queue.signal_daemon(SIGHUP);
  EXPECT_TRUE(
      logs(queue, "applied only when margayd is restarted: socket, limits.requests_per_second"))
      << queue.daemon_log();
  EXPECT_EQ(slots_of(queue), 2);
}

TEST(Reload, MakesNoFolderThatOnlyARestartWouldUse) {
  QueueAtWork queue(QueueOptions{.site = with_slots(1)});
  queue.start_daemon();
  queue.configure(with_slots(1) + "jobs: " + (queue.folder() / "elsewhere") + "\n");
  queue.signal_daemon(SIGHUP);
  EXPECT_TRUE(logs(queue, "applied only when margayd is restarted: jobs")) << queue.daemon_log();
  EXPECT_FALSE(std::filesystem::exists(queue.folder() / "elsewhere"));
}

TEST(Reload, ManyOfThemWhileClientsAskLoseNoRequest) {
  QueueAtWork queue(QueueOptions{.site = with_slots(1)});
  queue.start_daemon();
  for (int i = 0; i < 10; ++i) {
    queue.configure(with_slots(1 + i % 2));
    queue.signal_daemon(SIGHUP);
    EXPECT_EQ(queue.margay({"list"}).exit_code, 0);
    EXPECT_EQ(queue.margay({"status"}).exit_code, 0);
  }
  EXPECT_EQ(queue.kill_daemon(SIGTERM).exit_code, 0);
}

TEST(Hangup, EndsADaemonWithoutAConfigurationFile) {
  const ScratchFolder scratch;
  Program daemon({MARGAY_BIN_DIR "/margayd", "--state", scratch / "state"}, scratch.path());
  ASSERT_TRUE(QueueAtWork::becomes_true([&] {
    return !daemon.running() || run_program({MARGAY_BIN_DIR "/margay", "status"}, scratch.path(),
                                            {"MARGAY_SOCKET=" + (scratch / "state/margay.sock")})
                                        .exit_code == 0;
  }));
  daemon.signal(SIGHUP);
  EXPECT_EQ(daemon.wait().exit_code, 0);
}

// A margayd without options and a margay, of a user with these folders.
class WithoutAConfiguration : public ::testing::Test {
 protected:
  Finished margay(const std::string& runtime) const {
    return run_program({MARGAY_BIN_DIR "/margay", "status"}, scratch_.path(), environment(runtime));
  }
  std::string meets_at(const std::string& runtime) const {
    Program daemon({MARGAY_BIN_DIR "/margayd"}, scratch_.path(), environment(runtime));
    EXPECT_TRUE(QueueAtWork::becomes_true(
        [&] { return !daemon.running() || margay(runtime).exit_code == 0; }));
    daemon.signal(SIGTERM);
    const Finished end = daemon.wait();
    EXPECT_EQ(end.exit_code, 0) << end.error;
    return end.output;
  }
  std::vector<std::string> environment(const std::string& runtime) const {
    return {"HOME=" + scratch_.path(), "XDG_RUNTIME_DIR=" + runtime,
            "XDG_STATE_HOME=", "MARGAY_SOCKET="};
  }

  const ScratchFolder scratch_;
};

TEST_F(WithoutAConfiguration, MargayFindsADaemonInTheRuntimeFolder) {
  EXPECT_EQ(meets_at(scratch_ / "run"), "margayd ready: socket " + (scratch_ / "run/margay") +
                                            "/margay.sock, database " +
                                            (scratch_ / ".local/state/margay/margay.db") + "\n");
  EXPECT_EQ(std::filesystem::status(scratch_ / "run/margay").permissions(),
            std::filesystem::perms::owner_all);
}

TEST_F(WithoutAConfiguration, MargayFindsADaemonInTheStateFolderWhereThereIsNoRuntimeFolder) {
  EXPECT_THAT(meets_at(""),
              HasSubstr("socket " + (scratch_ / ".local/state/margay/margay.sock") + ","));
}

TEST_F(WithoutAConfiguration, MargayFindsADaemonOfAnotherLogin) {
  Program daemon({MARGAY_BIN_DIR "/margayd"}, scratch_.path(), environment(""));
  EXPECT_TRUE(QueueAtWork::becomes_true(
      [&] { return !daemon.running() || margay(scratch_ / "run").exit_code == 0; }));
  EXPECT_TRUE(daemon.running());
}

TEST_F(WithoutAConfiguration, MargayNamesThePlacesThatItTried) {
  const Finished alone = margay(scratch_ / "run");
  EXPECT_EQ(alone.exit_code, 7);
  EXPECT_THAT(
      alone.error,
      AllOf(HasSubstr("margay: no daemon found at " + (scratch_ / "run/margay/margay.sock") +
                      " (does not exist), " + (scratch_ / ".local/state/margay/margay.sock") +
                      " (does not exist), /run/margay/margay.sock"),
            HasSubstr("start margayd, or give its socket with --socket or MARGAY_SOCKET")));
}

TEST(Backup, OfARunningDaemonHoldsItsQueue) {
  QueueAtWork queue(QueueOptions{.site = with_slots(1)});
  queue.let_searches_wait();
  queue.start_daemon();
  queue.add_template();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("one.mrc")));
  const ScratchFolder other;
  std::filesystem::create_directory(other / "state");
  const std::vector<std::string> command = {MARGAY_BIN_DIR "/margayd", "--config",
                                            queue.folder() / "site.yaml", "--backup",
                                            other / "state/margay.db"};
  const Finished made = run_program(command, other.path());
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_EQ(made.output, (queue.folder() / "state/margay.db") + " copied to " +
                             (other / "state/margay.db") + "\n");
  const Finished again = run_program(command, other.path());
  EXPECT_EQ(again.exit_code, 78);
  EXPECT_THAT(again.error, HasSubstr("margay.db' exists"));
  EXPECT_TRUE(queue.daemon_runs());

  std::ofstream(other / "site.yaml") << "state: " << other / "state"
                                     << "\nengine: " << queue.folder() / "engine"
                                     << "\njob: " << MARGAY_BIN_DIR "/margay-job\n";
  const Program restored({MARGAY_BIN_DIR "/margayd", "--config", other / "site.yaml"},
                         other.path());
  Finished shown;
  EXPECT_TRUE(QueueAtWork::becomes_true([&] {
    shown = run_program({MARGAY_BIN_DIR "/margay", "show", "1"}, other.path(),
                        {"MARGAY_SOCKET=" + (other / "state/margay.sock")});
    return shown.exit_code == 0;
  }));
  EXPECT_THAT(shown.output, HasSubstr("one.mrc"));
}

TEST(Start, WithAGroupThatDoesNotExistIsABadConfiguration) {
  const ScratchFolder scratch;
  std::ofstream(scratch / "site.yaml") << "state: " << scratch / "state"
                                       << "\nengine: /bin/true\njob: " << MARGAY_BIN_DIR
                                       << "/margay-job\nsocket_group: no-such-group\n";
  const Finished refused =
      run_program({MARGAY_BIN_DIR "/margayd", "--config", scratch / "site.yaml"}, scratch.path());
  EXPECT_EQ(refused.exit_code, 78);
  EXPECT_THAT(refused.error, HasSubstr("there is no group 'no-such-group' on this machine; "));
  EXPECT_FALSE(std::filesystem::exists(scratch / "state"));
}

TEST(Backup, WithoutADatabaseSaysSo) {
  const ScratchFolder scratch;
  const Finished refused = run_program(
      {MARGAY_BIN_DIR "/margayd", "--state", scratch / "none", "--backup", scratch / "copy"},
      scratch.path());
  EXPECT_EQ(refused.exit_code, 78);
  EXPECT_THAT(refused.error, HasSubstr("there is no database '" + (scratch / "none/margay.db")));
  EXPECT_FALSE(std::filesystem::exists(scratch / "none"));
}

#ifdef MARGAY_WITH_SYSTEMD

// In systemd's place.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : socket_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const timeval timeout{.tv_sec = 60, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot bind " + path);
    }
  }
  ~NotifySocket() { close(socket_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // The next message; empty when none comes.
  std::string next() const {
    std::array<char, 4096> buffer;
    const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
    return size < 0 ? "" : std::string(buffer.data(), static_cast<size_t>(size));
  }
  // The next one that begins so; empty when none comes.
  std::string next(const std::string& beginning) const {
    std::string message;
    do message = next();
    while (!message.empty() && !message.starts_with(beginning));
    return message;
  }

 private:
  int socket_;
};

TEST(Notify, TellsSystemdThatItIsReadyAliveReloadingAndStopping) {
  const ScratchFolder scratch;
  const NotifySocket systemd(scratch / "notify");
  QueueAtWork queue(QueueOptions{.site = with_slots(1),
                                 .environment = {"NOTIFY_SOCKET=" + (scratch / "notify")}});
  queue.start_daemon();
  EXPECT_EQ(systemd.next(), "READY=1");
  EXPECT_THAT(systemd.next(),
              AllOf(HasSubstr("WATCHDOG=1\n"), HasSubstr("STATUS=0 searches submitted")));
  queue.signal_daemon(SIGHUP);
  EXPECT_THAT(systemd.next("RELOADING"), HasSubstr("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(systemd.next(), "READY=1");
  EXPECT_THAT(systemd.next("WATCHDOG"), Not(HasSubstr("STATUS=\n")));
  queue.signal_daemon(SIGTERM);
  EXPECT_EQ(systemd.next("STOPPING"), "STOPPING=1");
  EXPECT_EQ(queue.wait_for_daemon().exit_code, 0);
}

#endif

}  // namespace
}  // namespace tests
