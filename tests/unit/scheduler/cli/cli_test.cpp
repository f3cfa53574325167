#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "db/attempts.h"
#include "db/items.h"
#include "db/pauses.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(CliTest, ItemsAreHeldReleasedPromotedCancelledAndRetried) {
  register_template();
  const std::string item = std::to_string(enqueue("one.mrc"));
  EXPECT_THAT(margay({"hold", item}).out, HasSubstr("HELD"));
  EXPECT_THAT(margay({"release", item}).out, HasSubstr("QUEUED"));
  EXPECT_THAT(margay({"promote", item, "--priority", "urgent"}).out,
              AllOf(HasSubstr("urgent"), HasSubstr("waits: its micrograph is being read")));
  EXPECT_THAT(margay({"cancel", item}).out, HasSubstr("CANCELLED"));
  EXPECT_EQ(margay({"hold", item}).exit, 6);
  EXPECT_THAT(margay({"retry", item}).out, HasSubstr("QUEUED"));
  EXPECT_EQ(margay({"cancel", item, "99"}).exit, 3);
  EXPECT_EQ(margay({"cancel", "98", "99"}).exit, 4);
  const std::string shown = margay({"show", item}).out;
  for (const char* word : {"one.mrc", "ribosome@1", "promote", "10000.0 / 10000.0 A"}) {
    EXPECT_THAT(shown, HasSubstr(word));
  }
}

TEST_F(CliTest, RetryOpensTheMicrographItselfAndTakesNothingElse) {
  register_template();
  const std::string item = std::to_string(enqueue("one.mrc"));
  margay({"cancel", item});
  std::filesystem::remove(file("one.mrc"));
  const Outcome gone = margay({"retry", item});
  EXPECT_EQ(gone.exit, 4);
  EXPECT_THAT(gone.error, HasSubstr(file("one.mrc") + ": cannot open it"));
  std::filesystem::create_symlink(write("two.mrc"), file("one.mrc"));
  const Outcome other = margay({"retry", item});
  EXPECT_EQ(other.exit, 1);
  EXPECT_THAT(other.error, AllOf(HasSubstr(file("two.mrc")), HasSubstr("enqueue that file")));
  std::filesystem::remove(file("one.mrc"));
  write("one.mrc", "longer than it was");
  EXPECT_THAT(margay({"retry", item}).out, HasSubstr("to 18 bytes"));
}

TEST_F(CliTest, AnItemsSlurmOptionsAreKeptCanonicalAndShown) {
  register_template();
  const Outcome outcome =
      enqueue_files({write("one.mrc")}, {"--defocus-u", "1", "--defocus-v", "1", "--time", "90",
                                         "--partition", "gpu", "--exclusive", "--sbatch", "nice=10",
                                         "--sbatch", "--begin=now", "--mail-type", "END,FAIL"});
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  const json options = get("/v1/items/1").at("item").at("options");
  EXPECT_EQ(options.at("partition"), "gpu");
  EXPECT_EQ(options.at("exclusive"), "");
  EXPECT_EQ(options.at("nice"), "10");
  EXPECT_EQ(options.at("begin"), "now");
  EXPECT_NE(options.at("time"), "") << options;
  EXPECT_THAT(
      margay({"show", "1"}).out,
      AllOf(HasSubstr("Slurm options"), HasSubstr("--partition=gpu"), HasSubstr("--exclusive ")));
}

TEST_F(CliTest, AttemptsShowTheClustersStateWhereItAddsSomething) {
  register_template();
  const int64_t item = enqueue("one.mrc");
  const auto insert = [&](int number, db::AttemptState state, const std::string& words,
                          const std::string& reason) {
    db::Attempt attempt;
    attempt.item_id = item;
    attempt.number = number;
    attempt.token = "t" + std::to_string(number);
    attempt.cause = "cause" + std::to_string(number);
    attempt.state = state;
    attempt.started = attempt.ended = 1000;
    attempt.id = db::AttemptStore(*database_).insert(attempt);
    attempt.cluster_words = words;
    attempt.cluster_reason = reason;
    return attempt;
  };
  insert(1, db::AttemptState::kCheckpointed, "FAILED", "NonZeroExitCode");
  db::Attempt lost = insert(2, db::AttemptState::kPending, "PENDING", "Resources");
  ASSERT_TRUE(db::AttemptStore(*database_).update(lost));
  db::Attempt running = insert(3, db::AttemptState::kRunning, "RUNNING", "None");
  running.cause.clear();
  ASSERT_TRUE(db::AttemptStore(*database_).update(running));
  const std::string out = margay({"show", "1"}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("cause1\n"), HasSubstr("cause2 (PENDING: Resources: ")));
  EXPECT_THAT(out, Not(HasSubstr("RUNNING\n")));
  EXPECT_THAT(out, Not(HasSubstr("1970")));
}

TEST_F(CliTest, AFileBehindExclusiveIsAFile) {
  register_template();
  EXPECT_EQ(margay({"enqueue", "--template", "ribosome", "--defocus-u", "1", "--defocus-v", "1",
                    "--exclusive", write("one.mrc")})
                .exit,
            0);
}

TEST_F(CliTest, AnOptionThatIsNotAllowedRefusesTheWholeCommandOnce) {
  register_template();
  const Outcome outcome =
      enqueue_files({write("one.mrc"), write("two.mrc")},
                    {"--defocus-u", "1", "--defocus-v", "1", "--same-ctf", "--time", "soon"});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.error, HasSubstr("soon"));
  EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
  EXPECT_TRUE(get("/v1/items").at("items").empty());
}

TEST_F(CliTest, AnOptionGivenTwiceOrWithoutANameIsAUsageError) {
  const Words file = {write("one.mrc")};
  for (const Words& more : {Words{"--time", "10", "--sbatch", "time=20"}, Words{"--sbatch", "=5"},
                            Words{"--sbatch", "nice=1", "--sbatch", "nice=2"}}) {
    Words options = {"--defocus-u", "1", "--defocus-v", "1"};
    options.insert(options.end(), more.begin(), more.end());
    EXPECT_EQ(enqueue_files(file, options).exit, 2) << testing::PrintToString(more);
  }
}

TEST_F(CliTest, RetryChangesTheSlurmOptionsAndReportsIt) {
  register_template();
  enqueue_files({write("one.mrc")},
                {"--defocus-u", "1", "--defocus-v", "1", "--mem", "10G", "--qos", "low"});
  set_state(1, db::ItemState::kFailed, "ran out of memory");
  const Outcome outcome = margay({"retry", "1", "--mem-per-cpu", "4G", "--qos", "high"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("Slurm options: --mem-per-cpu=4G"), HasSubstr("--qos=high (was low)"),
                    HasSubstr("without --mem=10G")));
  EXPECT_FALSE(get("/v1/items/1").at("item").at("options").contains("mem"));
  set_state(1, db::ItemState::kFailed);
  EXPECT_THAT(margay({"retry", "1", "--drop-options"}).out, HasSubstr("without --mem-per-cpu=4G"));
  EXPECT_TRUE(get("/v1/items/1").at("item").at("options").empty());
  set_state(1, db::ItemState::kFailed);
  EXPECT_EQ(margay({"retry", "1", "--time", "soon"}).exit, 2);
  EXPECT_EQ(get("/v1/items/1").at("item").at("state"), "FAILED");
}

TEST_F(CliTest, StatusTellsRunningFromPausedFromDegraded) {
  status_.now = 1000;
  status_.last_tick = 999;
  status_.last_snapshot = 998;
  EXPECT_THAT(margay({"status"}).out, testing::StartsWith("running: margayd"));
  status_.orphans = 2;
  EXPECT_THAT(margay({"status"}).out, HasSubstr("2 orphaned jobs stopped since start"));
  status_.pause_reason = "partition 'gpux' does not exist";
  EXPECT_THAT(margay({"status"}).out,
              AllOf(testing::StartsWith("PAUSED:"), HasSubstr("partition 'gpux' does not exist")));
  status_.degraded = true;
  status_.problem = "slurmrestd does not answer";
  status_.last_snapshot = 880;
  status_.data_age = 120;
  EXPECT_THAT(margay({"status"}).out,
              AllOf(testing::StartsWith("DEGRADED:"), HasSubstr("slurmrestd does not answer"),
                    HasSubstr("2 min 00 s old"), HasSubstr("running jobs continue")));
  const json document = margay({"status", "--json"}).document();
  EXPECT_EQ(document.at("degraded"), true);
  EXPECT_EQ(document.at("data_age"), 120);
  EXPECT_EQ(document.at("orphans"), 2);
}

TEST_F(CliTest, ARoundThatHangsInTheClusterShowsInTheStatus) {
  status_.now = 1000;
  status_.last_tick = 980;
  status_.last_snapshot = 979;
  status_.plan_age = 21;
  EXPECT_THAT(margay({"status"}).out, AllOf(testing::StartsWith("waiting for the cluster:"),
                                            HasSubstr("no answer for 20 s"),
                                            HasSubstr("21 s old; waiting for the cluster")));
}

TEST_F(CliTest, TheDoctorReportsWhatIsBadAndWhatToDo) {
  examine_ = [] {
    return std::vector<slurm::Finding>{{.subject = "engine", .says = "runs"},
                                       {.level = slurm::Finding::Level::kBad,
                                        .subject = "partition 'gpux'",
                                        .says = "Slurm has none of that name\x1b[31m",
                                        .advice = "it has: gpu, cpu"}};
  };
  const Outcome outcome = margay({"doctor"});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("ok       engine: runs\n"),
                                 HasSubstr("BAD      partition 'gpux': Slurm has none"),
                                 HasSubstr("\n         -> it has: gpu, cpu\n"), HasSubstr("1 bad"),
                                 Not(HasSubstr("\x1b"))));
  const json findings = margay({"doctor", "--json"}).document().at("findings");
  EXPECT_EQ(findings.at(1).at("level"), "bad");
  examine_ = [] {
    return std::vector<slurm::Finding>{
        {.level = slurm::Finding::Level::kWarning, .subject = "token", .says = "ends soon"}};
  };
  EXPECT_EQ(margay({"doctor"}).exit, 0);
}

TEST_F(CliTest, ListSelects) {
  register_template();
  enqueue("one.mrc");
  enqueue("two.mrc");
  margay({"hold", "2"});
  EXPECT_EQ(margay({"list", "--state", "held", "--json"}).document().at("items").size(), 1U);
  EXPECT_EQ(margay({"list", "--state", "held,queued", "--json"}).document().at("items").size(), 2U);
  EXPECT_EQ(margay({"list", "--limit", "1", "--json"}).document().at("items").size(), 1U);
  EXPECT_THAT(margay({"list", "--priority", "urgent"}).out, HasSubstr("no items"));
  EXPECT_EQ(margay({"list", "--state", "busy"}).exit, 2);
}

TEST_F(CliTest, WaitEndsAsItsItemsDo) {
  register_template();
  enqueue("one.mrc");
  enqueue("two.mrc");
  EXPECT_EQ(margay({"wait", "1", "--timeout", "10ms"}).exit, 9);
  set_state(1, db::ItemState::kDone);
  EXPECT_EQ(margay({"wait", "1"}).exit, 0);
  set_state(2, db::ItemState::kFailed, "the micrograph is constant");
  const Outcome outcome = margay({"wait", "1", "2"});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.out, HasSubstr("the micrograph is constant"));
  EXPECT_EQ(margay({"wait", "3"}).exit, 4);
  EXPECT_EQ(margay({"wait", "--all"}).exit, 0);
  const json document = margay({"wait", "1", "2", "--json"}).document();
  EXPECT_EQ(document.at("ended").size(), 2U);
  EXPECT_EQ(document.at("outcome"), "failed");
}

TEST_F(CliTest, EveryCommandPrintsOneJsonDocumentEvenWhenItFails) {
  register_template();
  enqueue("one.mrc");
  status_.version = "x";
  const std::vector<Words> commands = {{"list"},
                                       {"show", "1"},
                                       {"show", "7"},
                                       {"explain", "1"},
                                       {"hold", "1"},
                                       {"release", "1"},
                                       {"promote", "1", "--priority", "low"},
                                       {"cancel", "1"},
                                       {"retry", "1"},
                                       {"logs", "1"},
                                       {"results", "1"},
                                       {"status"},
                                       {"plan"},
                                       {"whoami"},
                                       {"finish-by", "1", "--time", "2099-01-01T08:00"},
                                       {"wait", "1", "--timeout", "1ms"},
                                       {"template", "list"},
                                       {"enqueue", file("one.mrc"), "--template", "ribosome",
                                        "--defocus-u", "1", "--defocus-v", "1"}};
  for (Words command : commands) {
    command.push_back("--json");
    const Outcome outcome = margay(command);
    const json document = json::parse(outcome.out, nullptr, false);
    EXPECT_TRUE(document.is_object()) << testing::PrintToString(command) << outcome.out;
    EXPECT_EQ(document.value("format", 0), 1) << testing::PrintToString(command);
  }
}

// The names under "Subcommands:" of a help text.
std::vector<std::string> subcommands_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help.substr(std::min(help.find("\nSubcommands:\n"), help.size())));
  const std::string indent = "  ";
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() && !names.empty()) break;
    if (!line.starts_with(indent)) continue;
    const std::string name = line.substr(indent.size(), line.find(' ', indent.size()) - 2);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

TEST_F(CliTest, EveryCommandHasHelpWithAnExample) {
  std::vector<Words> commands;
  for (const std::string& name : subcommands_in(margay({"--help"}).out)) commands.push_back({name});
  EXPECT_GE(commands.size(), 28u);
  for (size_t i = 0; i < commands.size(); ++i) {
    const Words command = commands[i];
    Words arguments = command;
    arguments.push_back("--help");
    const Outcome outcome = margay(arguments);
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("Example:\n  margay " + command[0]), HasSubstr("--json")))
        << testing::PrintToString(command);
    for (const std::string& name : subcommands_in(outcome.out)) {
      commands.push_back(command);
      commands.back().push_back(name);
    }
  }
  EXPECT_THAT(commands, testing::Contains(Words{"template", "rename"}));
}

TEST_F(CliTest, TheQueueIsPausedAndResumed) {
  EXPECT_THAT(margay({"resume"}).out, HasSubstr("The queue as a whole was not paused"));
  const Outcome paused = margay({"pause", "--reason", "new driver \xff"});
  EXPECT_EQ(paused.exit, 0) << paused.error;
  EXPECT_THAT(paused.out, HasSubstr("no job is submitted until 'margay resume'"));
  EXPECT_EQ(db::PauseStore(*database_).find()->reason, "new driver \xff");
  EXPECT_EQ(margay({"resume", "--json"}).document().at("was_paused"), true);
  EXPECT_FALSE(db::PauseStore(*database_).find());
  EXPECT_EQ(wakes_, 3);
}

TEST_F(CliTest, ALaneIsPausedAndResumed) {
  const Outcome paused = margay({"pause", "--partition", "gpu", "--reason", "new driver"});
  EXPECT_EQ(paused.exit, 0) << paused.error;
  EXPECT_THAT(paused.out, HasSubstr("no job with --partition gpu is submitted until 'margay resume "
                                    "--partition gpu'"));
  EXPECT_FALSE(db::PauseStore(*database_).find()) << "the queue is not paused";
  EXPECT_EQ(db::PauseStore(*database_).lanes().size(), 1U);
  status_.held_lanes = {{"partition=gpu", "partition=gpu is paused by root"}};
  EXPECT_THAT(margay({"status"}).out,
              AllOf(testing::StartsWith("running"),
                    testing::ContainsRegex("held +partition=gpu is paused by root")));
  EXPECT_EQ(margay({"status", "--json"}).document().at("held_lanes").at(0).at("lane"),
            "partition=gpu");
  EXPECT_THAT(margay({"resume"}).out, AllOf(HasSubstr("The queue as a whole was not paused."),
                                            HasSubstr("partition=gpu is paused")));
  EXPECT_THAT(margay({"resume", "--partition", "gpu"}).out,
              HasSubstr("jobs with --partition gpu are submitted again"));
  EXPECT_TRUE(db::PauseStore(*database_).lanes().empty());
  EXPECT_EQ(margay({"pause", "--qos", "a b"}).exit, 2);
}

TEST_F(CliTest, WrongUseIsTwo) {
  EXPECT_EQ(margay({"show"}).exit, 2);
  EXPECT_EQ(margay({"show", "3-1"}).exit, 2);
  EXPECT_EQ(margay({"explode"}).exit, 2);
  EXPECT_EQ(margay({"promote", "1", "--priority", "live"}).exit, 2);
  EXPECT_EQ(margay({"wait", "--timeout", "soon"}).exit, 2);
}

TEST_F(CliTest, WithoutADaemonTheExitCodeIsSevenAndTheMessageTellsWhatToDo) {
  server_.reset();
  for (const Words& command : std::vector<Words>{{"list"}, {"status"}, {"stop"}, {"wait"}}) {
    const Outcome outcome = margay(command);
    EXPECT_EQ(outcome.exit, 7);
    EXPECT_THAT(outcome.error, HasSubstr("start margayd"));
  }
}

}  // namespace
}  // namespace scheduler
