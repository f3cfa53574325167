// What `margay doctor` says of Slurm's commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/unit/slurm/commands/cli_commands.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Doctor : public Commands {
 protected:
  Doctor() {
    for (const char* command : {"sbatch", "squeue", "sacct", "scancel"})
      becomes(command, version());
    const std::string data = MARGAY_TEST_DATA "/slurm/commands/";
    becomes("scontrol",
            "case $1$2 in ping) echo 'Slurmctld(primary) at vm is UP';; showconfig) cat " + data +
                "config.txt;; --oneliner*) cat " + data + "partitions.txt;; " +
                "*) echo slurm-wlm 22.05.8;; esac");
    becomes("sinfo", version() + "printf 'n01|gpu:4\\nn02|gpu:4\\n'");
    accounting_has("normal|||||||\n", "testbed|research|" + user() + "|||||||||\n");
  }
  static std::string user() { return ::getpwuid(::geteuid())->pw_name; }
  void accounting_has(const std::string& qos, const std::string& associations) const {
    scratch_.write("qos", qos);
    scratch_.write("associations", associations);
    becomes("sacctmgr", version() + "case $4 in qos) cat " + scratch_ / "qos" +
                            ";; user) echo research;; *) cat " + scratch_ / "associations" +
                            ";; esac");
  }
  void applies_no_limits() const {
    const std::string config = scratch_ / "config.txt";
    std::string text = tests::text_of(MARGAY_TEST_DATA "/slurm/commands/config.txt");
    const std::string enforced = "associations,limits,qos";
    text.replace(text.find(enforced), enforced.size(), "associations");
    scratch_.write("config.txt", text);
    becomes("scontrol",
            "case $1$2 in ping) echo 'Slurmctld(primary) at vm is UP';; showconfig) cat " + config +
                ";; --oneliner*) cat " MARGAY_TEST_DATA
                "/slurm/commands/partitions.txt;; *) echo slurm-wlm 22.05.8;; esac");
  }
  static std::string version() {
    return "if [ \"$1\" = --version ]; then echo slurm-wlm 22.05.8; exit; fi\n";
  }

  // "good", "warning" or "bad", and all it says.
  std::string of(const std::string& subject, const Examination& what = {}) {
    for (const Finding& finding : cluster().examine(what)) {
      if (finding.subject != subject) continue;
      const char* levels[] = {"good: ", "warning: ", "bad: "};
      EXPECT_EQ(finding.level == Finding::Level::kGood, finding.advice.empty()) << subject;
      return levels[static_cast<int>(finding.level)] + finding.says + " / " + finding.advice;
    }
    return "nothing";
  }
};

TEST_F(Doctor, FindsAllWell) {
  EXPECT_THAT(of("commands"), HasSubstr("good: Slurm 22.05.8"));
  EXPECT_THAT(of("controller"), HasSubstr("good: Slurm 22.05.8 of cluster testbed"));
  EXPECT_THAT(of("accounting"), HasSubstr("good"));
  EXPECT_THAT(of("GPUs"), HasSubstr("good: 2 nodes with 8 GPUs"));
  EXPECT_THAT(of("MinJobAge"), HasSubstr("good: 30 s"));
  EXPECT_THAT(of("MessageTimeout"), HasSubstr("good: 10 s"));
}

TEST_F(Doctor, NamesWhatDoesNotExist) {
  const Examination what{.partitions = {"main", "gpu", "closed"},
                         .accounts = {"research", "rich"},
                         .qos = {"normal", "high"}};
  EXPECT_THAT(of("partition 'main'", what), HasSubstr("good"));
  EXPECT_THAT(of("partition 'gpu'", what),
              HasSubstr("bad: does not exist; there are: closed, main"));
  EXPECT_THAT(of("partition 'closed'", what), HasSubstr("warning: its state is DOWN"));
  EXPECT_THAT(of("account 'research'", what), HasSubstr("good"));
  EXPECT_THAT(of("account 'rich'", what), HasSubstr("bad"));
  EXPECT_THAT(of("QOS 'normal'", what), HasSubstr("good"));
  EXPECT_THAT(of("QOS 'high'", what), HasSubstr("bad"));
}

TEST_F(Doctor, ComparesWhatAShapeAsksForWithThePartition) {
  becomes("sinfo", version() + "printf 'n01|gpu:4|short|16|64000\\nn02|gpu:4|short|16|64000\\n'");
  Examination what{.shapes = {{.shape = "gpu", .partitions = {"short"}, .minutes = 6, .gpus = 1}}};
  what.shapes[0].sources["time"] = "slurm.options.time";
  EXPECT_THAT(of("shape gpu", what),
              AllOf(HasSubstr("bad: partition 'short': asks for 6 min, and its MaxTime is 5 min"),
                    HasSubstr("correct slurm.options.time")));
  what.shapes[0].minutes = 5;
  EXPECT_THAT(of("shape gpu", what), HasSubstr("good"));
}

TEST_F(Doctor, ComparesWhatAShapeAsksForWithItsQosAndAssociation) {
  becomes("sinfo", version() + "printf 'n01|gpu:4|short|16|64000\\n'");
  accounting_has("normal|||||||\nbrief||00:02:00|||||\n",
                 "testbed|research|" + user() + "||||normal||gres/gpu=1|||\n");
  Examination what{.shapes = {{.shape = "gpu", .partitions = {"short"}, .minutes = 5, .gpus = 1}}};
  EXPECT_THAT(of("shape gpu", what), HasSubstr("good"));
  what.shapes[0].qos = "brief";
  EXPECT_THAT(
      of("shape gpu", what),
      HasSubstr("bad: partition 'short': asks for 5 min, and MaxWall of QOS 'brief' is 2 min"));
  what.shapes[0].qos = "";
  what.shapes[0].gpus = 2;
  EXPECT_THAT(of("shape gpu", what),
              HasSubstr("MaxTRESPerJob of " + user() + "'s association with account 'research'"));
}

TEST_F(Doctor, AsksSacctmgrAsOftenForAnyNumberOfShapes) {
  of("accounting");
  const size_t once = calls("sacctmgr").size();
  const ShapeNeeds shape{.shape = "gpu", .partitions = {"main"}, .qos = "normal"};
  of("accounting", {.qos = {"normal"}, .shapes = {shape, shape, shape}});
  EXPECT_EQ(calls("sacctmgr").size(), 2 * once);
}

TEST_F(Doctor, SaysOnceThatLimitsAreUnknown) {
  const std::string subject = "limits of QOS and associations";
  EXPECT_EQ(of(subject), "nothing");
  becomes("sacctmgr", version() + "echo 'sacctmgr: error: Access denied' >&2; exit 1");
  EXPECT_THAT(of(subject, {.accounts = {"research"}, .qos = {"normal"}}),
              HasSubstr("warning: unknown: Access denied"));
  EXPECT_EQ(of("QOS"), "nothing");
  becomes("sacct", version() + "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  EXPECT_EQ(of(subject), "nothing");
  EXPECT_THAT(of("accounting"), HasSubstr("limits of QOS and associations are unknown"));
}

TEST_F(Doctor, LimitsThatSlurmDoesNotApplyAreNotJudged) {
  applies_no_limits();
  becomes("sinfo", version() + "printf 'n01|gpu:4|main|16|64000\\n'");
  accounting_has("normal||00:01:00|||||\n", "");
  const Examination what{.shapes = {{.shape = "gpu", .minutes = 5, .gpus = 1}}};
  EXPECT_THAT(of("shape gpu", what), HasSubstr("good"));
  EXPECT_THAT(of("limits of QOS and associations", what), HasSubstr("good: Slurm applies none"));
}

TEST_F(Doctor, NamesThatCannotBeCheckedAreWarningsEvenWhereSlurmAppliesNoLimits) {
  applies_no_limits();
  becomes("sacctmgr", version() + "echo 'sacctmgr: error: Access denied' >&2; exit 1");
  const Examination what{.accounts = {"research"}, .qos = {"normal"}};
  EXPECT_THAT(of("QOS", what), HasSubstr("warning: cannot be checked (Access denied): normal"));
  EXPECT_THAT(of("account", what),
              HasSubstr("warning: cannot be checked (Access denied): research"));
  EXPECT_EQ(of("account"), "nothing");
}

TEST_F(Doctor, WithoutSacctmgrNamesCannotBeCheckedAndTheRestIsExamined) {
  fs::remove(scratch_ / "bin/sacctmgr");
  const Examination what{.accounts = {"research"}, .qos = {"normal"}};
  EXPECT_THAT(of("sacctmgr", what), AllOf(HasSubstr("warning"), HasSubstr("No such file")));
  EXPECT_THAT(of("QOS", what), HasSubstr("warning: cannot be checked"));
  EXPECT_THAT(of("account", what), HasSubstr("warning: cannot be checked"));
  EXPECT_THAT(of("GPUs", what), HasSubstr("good"));
}

TEST_F(Doctor, NamesCannotBeCheckedWhereAccountingDoesNotAnswer) {
  becomes("sacct", version() + "echo 'sacct: error: Connection refused' >&2; exit 1");
  const Examination what{.accounts = {"research"}, .qos = {"normal"}};
  EXPECT_THAT(of("accounting", what), HasSubstr("bad"));
  EXPECT_THAT(of("QOS", what),
              HasSubstr("warning: cannot be checked (Connection refused): normal"));
  EXPECT_THAT(of("account", what), HasSubstr("warning"));
}

TEST_F(Doctor, AccountingThatIsOffIsAWarningAndIsNotAsked) {
  options_.accounting = Accounting::kOff;
  EXPECT_THAT(of("accounting"), HasSubstr("warning: not asked (slurm.accounting: off)"));
  EXPECT_TRUE(calls("sacctmgr").empty());
  EXPECT_THAT(of("QOS", {.qos = {"normal"}}), HasSubstr("warning: cannot be checked"));
}

TEST_F(Doctor, WarnsOfEndsThatAreForgottenTooSoon) {
  options_.poll = milliseconds(20'000);
  EXPECT_THAT(of("MinJobAge"), AllOf(HasSubstr("warning: 30 s"), HasSubstr("60 s at least")));
}

TEST_F(Doctor, JudgesMinJobAgeByTheDaemonsPollAndNotByItsOwn) {
  options_.poll = milliseconds(1'000);
  EXPECT_THAT(of("MinJobAge", {.poll = milliseconds(20'000)}), HasSubstr("60 s at least"));
}

TEST_F(Doctor, WarnsOfATimeoutBelowSlurms) {
  options_.timeout = milliseconds(10'000);
  EXPECT_THAT(of("MessageTimeout"), HasSubstr("warning"));
}

TEST_F(Doctor, MissesGpusThatAreAskedFor) {
  becomes("sinfo", version() + "printf 'n01|(null)\\n'");
  EXPECT_THAT(of("GPUs"), HasSubstr("good"));
  EXPECT_THAT(of("GPUs", {.gpus = true}), HasSubstr("bad"));
}

TEST_F(Doctor, NamesACommandThatIsMissing) {
  fs::remove(scratch_ / "bin/sacct");
  EXPECT_THAT(of("sacct"), AllOf(HasSubstr("bad"), HasSubstr("No such file")));
  options_.accounting = Accounting::kOff;
  cluster_.reset();
  EXPECT_THAT(of("commands"), HasSubstr("good"));
}

TEST_F(Doctor, WarnsOfCommandsOfTwoReleases) {
  becomes("sacct", "echo slurm 24.11.5");
  EXPECT_THAT(of("commands"), HasSubstr("warning: sacctmgr"));
  EXPECT_THAT(of("commands"), HasSubstr("sacct of Slurm 24.11.5"));
}

TEST_F(Doctor, SaysThatTheControllerIsDown) {
  becomes("scontrol", version() + "echo 'Slurmctld(primary) at vm is DOWN'; exit 1");
  EXPECT_THAT(of("controller"), HasSubstr("bad"));
  EXPECT_EQ(of("MinJobAge"), "nothing");
}

TEST_F(Doctor, DoesWithoutAccounting) {
  becomes("sacct", version() + "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  EXPECT_THAT(of("accounting"), HasSubstr("good: not used"));
  EXPECT_THAT(of("account", {.accounts = {"rich"}}), HasSubstr("warning"));
  options_.accounting = Accounting::kOn;
  cluster_.reset();
  EXPECT_THAT(of("accounting"), HasSubstr("bad"));
}

}  // namespace
}  // namespace slurm
