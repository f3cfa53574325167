#include "scheduler/commands/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "db/audit.h"
#include "tests/unit/scheduler/commands/commands_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(CommandsTest, TheSameMicrographAndTemplateNamesTheItemThatIsThere) {
  const auto id = enqueue("a.mrc").id;
  try {
    enqueue("a.mrc");
    FAIL() << "not refused";
  } catch (const Conflict& conflict) {
    EXPECT_EQ(conflict.item_id(), id);
    EXPECT_THAT(conflict.what(), AllOf(HasSubstr("item " + std::to_string(id)), HasSubstr("QUEUED"),
                                       HasSubstr("--again")));
  }
}

TEST_F(CommandsTest, ARequestOfManyFilesIsStoredWholeOrNotAtAll) {
  const std::vector<EnqueueRequest> wanted = {request("a.mrc"), request("b.mrc"), request("c.mrc")};
  restart_with_crash_at("before-command-commit");
  EXPECT_THROW(commands_->enqueue(user_, wanted), Crash);
  restart_with_crash_at("after-command-commit");
  EXPECT_TRUE(db::ItemStore(*database_).list({}).empty());
  EXPECT_THROW(commands_->enqueue(user_, wanted), Crash);
  restart();
  EXPECT_EQ(db::ItemStore(*database_).list({}).size(), 3U);
}

TEST_F(CommandsTest, EachFileOfARequestHasItsOwnTemplateAndOptions) {
  EnqueueRequest missing = request("b.mrc");
  missing.template_name = "ribosom";
  EnqueueRequest wrong = request("c.mrc");
  wrong.options = {{"time", "60"}};
  const auto answers = commands_->enqueue(
      user_, {request("a.mrc"), missing, missing, wrong, wrong, request("d.mrc")});
  ASSERT_EQ(answers.size(), 6U);
  EXPECT_TRUE(answers[0].item);
  for (const size_t i : {1, 2}) EXPECT_EQ(answers[i].refused->fault(), CommandFault::kNotFound);
  for (const size_t i : {3, 4}) EXPECT_EQ(answers[i].refused->fault(), CommandFault::kBadOption);
  EXPECT_TRUE(answers[5].item);
}

TEST_F(CommandsTest, AnItemKeepsTheGroupOfWhoEnqueuedIt) {
  Caller ann{.uid = 1001, .name = "ann"};
  EXPECT_EQ(commands_->enqueue(ann, request("a.mrc")).group, "") << "not known";
  int asked = 0;
  ann.group = [&] { return ++asked, "cryoem"; };
  const auto id = commands_->enqueue(ann, request("b.mrc")).id;
  EXPECT_EQ(db::ItemStore(*database_).find(id)->group, "cryoem");
  for (const Enqueued& one : commands_->enqueue(ann, {request("c.mrc"), request("d.mrc")})) {
    EXPECT_EQ(one.item->group, "cryoem");
  }
  EXPECT_EQ(asked, 2) << "once for each request";
}

TEST_F(CommandsTest, AgainMakesAnotherItem) {
  const auto first = enqueue("a.mrc");
  EnqueueRequest again = request("a.mrc");
  again.again = true;
  const auto second = commands_->enqueue(user_, again);
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(second.repeat, 1);
}

TEST_F(CommandsTest, OptionsOfSlurmHaveNoMeaningWithoutIt) {
  EnqueueRequest wrong = request("a.mrc");
  wrong.options = {{"time", "60"}};
  EXPECT_THAT(refusal<BadOption>([&] { commands_->enqueue(user_, wrong); }),
              AllOf(HasSubstr("--time"), HasSubstr("on its own machine")));
  EXPECT_TRUE(db::ItemStore(*database_).list({}).empty());
}

TEST_F(CommandsTest, OptionsAreKeptAsTheCheckReturnsThemAndItLearnsWhoAsks) {
  std::vector<std::string> asked;
  Commands commands(
      *database_, clock_,
      {.check_options = [&](const Caller& caller, const ItemOptions& options) -> ItemOptions {
        asked.push_back(caller.name);
        if (options.count("account") != 0) throw BadOption("account is the administrator's");
        return {{"time", "01:00:00"}};
      }});
  EnqueueRequest wanted = request("a.mrc");
  wanted.options = {{"time", "60"}};
  const auto id = commands.enqueue(user_, wanted).id;
  EXPECT_THAT(item(id).options, testing::ElementsAre(testing::Pair("time", "01:00:00")));
  EXPECT_THAT(asked, testing::ElementsAre("ann"));
  EXPECT_EQ(db::AuditStore(*database_).of_item(id).at(0).detail, "normal --time=01:00:00");
  set_state(id, ItemState::kFailed);
  EXPECT_THROW(commands.retry(user_, id,
                              {.options = {{"account", "x"}},
                               .micrograph = file_facts(folder_.file("a.mrc"))}),
               BadOption);
  EXPECT_EQ(item(id).state, ItemState::kFailed) << "a refused command changes nothing";
}

TEST_F(CommandsTest, ACtfThatCannotBeIsRefused) {
  EnqueueRequest wrong = request("a.mrc");
  wrong.ctf.defocus_u = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal<Invalid>([&] { commands_->enqueue(user_, wrong); }), HasSubstr("defocus_u"));
  wrong.ctf.defocus_u = 1e4;
  wrong.ctf.phase_shift = 4000;
  EXPECT_THAT(refusal<Invalid>([&] { commands_->enqueue(user_, wrong); }),
              HasSubstr("phase_shift"));
}

TEST_F(CommandsTest, OnlyTheOwnerAndThePrivilegedChangeAnItem) {
  const auto id = enqueue("a.mrc").id;
  EXPECT_THAT(refusal<NotPermitted>([&] { commands_->promote(other_, id, Priority::kHigh); }),
              HasSubstr("belongs to ann"));
  EXPECT_THROW(commands_->hold(other_, id), NotPermitted);
  EXPECT_THROW(commands_->release(other_, id), NotPermitted);
  EXPECT_THROW(commands_->cancel(other_, id), NotPermitted);
  EXPECT_THROW(commands_->retry(other_, id, {}), NotPermitted);
  EXPECT_EQ(commands_->promote(root_, id, Priority::kHigh).priority, Priority::kHigh);
  EXPECT_EQ(commands_->cancel(user_, id).state, ItemState::kCancelled);
}

TEST_F(CommandsTest, WhatIsNotThereIsNotFound) {
  EXPECT_THROW(commands_->hold(user_, 99), NotFound);
  EXPECT_THROW(commands_->show(99), NotFound);
}

TEST_F(CommandsTest, EveryCommandIsRefusedInTheStatesThatForbidIt) {
  const auto id = enqueue("a.mrc").id;
  const auto allowed = [&](ItemState state, auto command) {
    set_state(id, state);
    try {
      command();
      return true;
    } catch (const Conflict& conflict) {
      EXPECT_EQ(conflict.item_id(), id);
      EXPECT_EQ(item(id).state, state) << "a refused command changes nothing";
      return false;
    }
  };
  const auto promote = [&] { commands_->promote(user_, id, Priority::kLow); };
  const auto hold = [&] { commands_->hold(user_, id); };
  const auto release = [&] { commands_->release(user_, id); };
  const auto cancel = [&] { commands_->cancel(user_, id); };
  const auto retry = [&] { DaemonFixture::retry(id); };
  struct Row {
    ItemState state;
    bool promote, hold, release, cancel, retry;
  };
  for (const Row& row : {Row{ItemState::kQueued, true, true, true, true, false},
                         Row{ItemState::kHeld, true, true, true, true, false},
                         Row{ItemState::kActive, true, false, false, true, false},
                         Row{ItemState::kDone, false, false, false, false, false},
                         Row{ItemState::kFailed, false, false, false, false, true},
                         Row{ItemState::kQuarantined, false, false, false, false, true},
                         Row{ItemState::kCancelled, false, false, false, true, true}}) {
    SCOPED_TRACE(to_string(row.state));
    EXPECT_EQ(allowed(row.state, promote), row.promote);
    EXPECT_EQ(allowed(row.state, hold), row.hold);
    EXPECT_EQ(allowed(row.state, release), row.release);
    EXPECT_EQ(allowed(row.state, cancel), row.cancel);
    EXPECT_EQ(allowed(row.state, retry), row.retry);
  }
}

TEST_F(CommandsTest, EveryChangeIsAudited) {
  const auto id = enqueue("a.mrc").id;
  commands_->promote(root_, id, Priority::kUrgent);
  commands_->hold(user_, id);
  commands_->release(user_, id);
  commands_->cancel(user_, id);
  std::vector<std::string> actions;
  for (const auto& entry : db::AuditStore(*database_).of_item(id)) {
    actions.push_back(entry.who + " " + entry.action + " " + entry.detail);
  }
  EXPECT_THAT(actions, testing::ElementsAre("ann enqueue normal", "root promote normal -> urgent",
                                            "ann hold ", "ann release ", "ann cancel "));
}

TEST_F(CommandsTest, OnlyThePrivilegedPauseAndResume) {
  EXPECT_THAT(refusal<NotPermitted>([&] { commands_->pause(user_, ""); }), HasSubstr("only root"));
  EXPECT_THAT(refusal<NotPermitted>([&] { commands_->resume(user_); }), HasSubstr("only root"));
  EXPECT_FALSE(commands_->resume(root_)) << "nothing was paused";
  commands_->pause(root_, "first");
  commands_->pause(root_, "second");
  EXPECT_TRUE(commands_->resume(root_));
  EXPECT_FALSE(commands_->resume(root_));
  EXPECT_THAT(refusal<Invalid>([&] { commands_->pause(root_, std::string(201, 'x')); }),
              HasSubstr("201 bytes"));
}

TEST_F(CommandsTest, OnlyALaneOfSlurmCanBePaused) {
  const auto pause = [&](Commands& commands, const ItemOptions& lane) {
    return refusal<BadOption>([&] { commands.pause(root_, "", lane); });
  };
  EXPECT_THAT(pause(*commands_, {{"partition", "gpu"}}), HasSubstr("on its own machine"));
  Commands slurm(
      *database_, clock_,
      {.check_options = [](const Caller&, const ItemOptions& options) { return options; }});
  EXPECT_THAT(pause(slurm, {{"time", "10"}}), HasSubstr("--time=10 names no lane"));
  EXPECT_THAT(pause(slurm, {{"partition", "gpu,cpu"}}), HasSubstr("one name"));
  EXPECT_EQ(pause(slurm, {{"partition", "gpu"}, {"account", "lab"}}), "not refused");
  EXPECT_FALSE(slurm.resume(root_)) << "the queue is not paused";
  EXPECT_FALSE(slurm.resume(root_, {{"partition", "gpu"}})) << "nor all of the partition";
  EXPECT_TRUE(slurm.resume(root_, {{"account", "lab"}, {"partition", "gpu"}}));
}

TEST_F(CommandsTest, ShowExplainsWhyAnItemWaits) {
  enqueue("a.mrc", Priority::kHigh);
  const auto id = enqueue("b.mrc").id;
  EXPECT_EQ(commands_->show(id).explanation,
            "not planned yet: the daemon is making its first plan");
  ticks(1);
  EXPECT_EQ(commands_->show(id).explanation, "waits: next in the queue; 1 of 1 device slot busy");
  EXPECT_EQ(commands_->show(id).search_template.name, "ribosome");
}

TEST_F(CommandsTest, AnItemEnqueuedOnHoldIsHeld) {
  EnqueueRequest held = request("a.mrc");
  held.hold = true;
  EXPECT_EQ(commands_->enqueue(user_, held).state, ItemState::kHeld);
  ticks(2);
  EXPECT_TRUE(cluster_.requests.empty());
}

class OwnersFiles : public CommandsTest {
 protected:
  OwnersFiles() {
    commands_ =
        std::make_unique<Commands>(*database_, clock_, CommandsOptions{.only_owners_read = true});
  }
};

TEST_F(OwnersFiles, AreForTheOwnerAndPrivilegedUsers) {
  const int64_t id = commands_->enqueue(user_, request("a.mrc")).id;
  EXPECT_NO_THROW(commands_->check_may_read(user_, id));
  EXPECT_NO_THROW(commands_->check_may_read(root_, id));
  EXPECT_NO_THROW(commands_->check_may_read(other_, id + 1)) << "there is none: the caller says so";
  EXPECT_EQ(refusal<NotPermitted>([&] { commands_->check_may_read(other_, id); }),
            "the results, logs and scripts of item 1 are for its owner, ann, alone: this site has "
            "'results.readers: owner'");
}

TEST_F(CommandsTest, FilesAreForAllWhereTheSiteSaysNothingElse) {
  const int64_t id = commands_->enqueue(user_, request("a.mrc")).id;
  EXPECT_NO_THROW(commands_->check_may_read(other_, id));
}

}  // namespace
}  // namespace scheduler
