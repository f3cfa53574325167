#include "scheduler/commands/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/sha256.h"
#include "db/audit.h"
#include "db/templates.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

template <typename Error, typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

class CommandsTest : public DaemonFixture {
 protected:
  void set_state(int64_t id, ItemState state, const std::string& reason = "") {
    db::ItemStore(*database_).set_state(id, state, reason, 0);
  }
  EnqueueRequest request(const std::string& name) {
    return {.micrograph = file_facts(folder_.write(name, "m")), .template_name = "ribosome"};
  }

  const Caller other_{.uid = 1001, .name = "bob"};
  const Caller root_{.uid = 0, .name = "root", .privileged = true};
};

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

TEST_F(CommandsTest, LongTextsAreRefusedWithTheLimitsName) {
  EnqueueRequest wanted = request("a.mrc");
  wanted.label = std::string(201, 'x');
  EXPECT_THAT(refusal<Invalid>([&] { commands_->enqueue(root_, wanted); }),
              AllOf(HasSubstr("'xxx"), HasSubstr("201 bytes"), HasSubstr("limits.label_length")));
  wanted.label = std::string(200, 'x');
  wanted.ctf.source = std::string(1025, 'x');
  EXPECT_THAT(refusal<Invalid>([&] { commands_->enqueue(root_, wanted); }),
              HasSubstr("limits.path_length"));
  wanted.ctf.source = std::string(1024, 'x');
  EXPECT_GT(commands_->enqueue(root_, wanted).id, 0);
  EXPECT_THAT(refusal<Invalid>([&] {
                commands_->add_template(root_, {.name = "a",
                                                .volume = file_facts(folder_.write("v.mrc", "v")),
                                                .search_yaml = "# " + std::string(16384, 'x')});
              }),
              HasSubstr("limits.settings_length"));
}

TEST_F(CommandsTest, ItemsThatHaveNotEndedAreCountedAgainstTheirOwnersQuota) {
  Commands commands(*database_, clock_, {.quotas = {.items_per_user = 2}});
  const auto ask = [&](const Caller& caller, int64_t items) {
    return refusal<NotPermitted>([&] { commands.check_quota(caller, items, ""); });
  };
  const auto first = commands.enqueue(user_, request("a.mrc")).id;
  EXPECT_EQ(ask(user_, 1), "not refused");
  EXPECT_THAT(ask(user_, 2), AllOf(HasSubstr("you have 1 items"), HasSubstr("2 more"),
                                   HasSubstr("limits.items_per_user")));
  commands.enqueue(user_, request("b.mrc"));
  EXPECT_THAT(ask(user_, 1), HasSubstr("limits.items_per_user"));
  EXPECT_EQ(ask(other_, 2), "not refused");
  EXPECT_EQ(ask(root_, 1000), "not refused");
  set_state(first, ItemState::kFailed);
  EXPECT_EQ(ask(user_, 1), "not refused");
  commands.enqueue(user_, request("c.mrc"));
  const RetryRequest again{.micrograph = file_facts(folder_.file("a.mrc"))};
  EXPECT_THAT(refusal<NotPermitted>([&] { commands.retry(user_, first, again); }),
              HasSubstr("limits.items_per_user"));
  EXPECT_EQ(item(first).state, ItemState::kFailed);
}

TEST_F(CommandsTest, OnlyItemsThatARequestAddsAreCountedAgainstTheQuota) {
  Commands commands(*database_, clock_, {.quotas = {.items_per_user = 2}});
  const auto first = commands.enqueue(user_, request("a.mrc")).id;
  EXPECT_THAT(refusal<NotPermitted>([&] {
                commands.enqueue(user_, {request("a.mrc"), request("b.mrc"), request("c.mrc")});
              }),
              AllOf(HasSubstr("you have 1 items"), HasSubstr("2 more")));
  EXPECT_EQ(db::ItemStore(*database_).list({}).size(), 1U) << "nothing of it is stored";
  const auto answers = commands.enqueue(user_, {request("a.mrc"), request("b.mrc")});
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].refused->item_id(), first);
  EXPECT_EQ(answers[1].item->micrograph_path, folder_.file("b.mrc"));
  EXPECT_THAT(refusal<NotPermitted>([&] { commands.enqueue(user_, request("c.mrc")); }),
              HasSubstr("limits.items_per_user"));
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

TEST_F(CommandsTest, AFileThatIsTooLargeIsRefusedBeforeItIsRead) {
  Commands commands(*database_, clock_, {.quotas = {.file_megabytes = 2}});
  EnqueueRequest wanted = request("a.mrc");
  wanted.micrograph.bytes = 2'000'001;
  EXPECT_THAT(refusal<Invalid>([&] { commands.enqueue(user_, wanted); }),
              AllOf(HasSubstr("a.mrc"), HasSubstr("limits.file_megabytes")));
  EXPECT_THAT(refusal<Invalid>([&] {
                commands.check_template(user_, {.name = "large", .volume = wanted.micrograph});
              }),
              HasSubstr("limits.file_megabytes"));
  wanted.micrograph.bytes = 2'000'000;
  EXPECT_GT(commands.enqueue(user_, wanted).id, 0);
}

TEST_F(CommandsTest, ATemplateIsRefusedByNameOwnerAndQuotaBeforeItsVolumeIsRead) {
  Commands commands(*database_, clock_, {.quotas = {.templates_per_user = 1}});
  TemplateRequest wanted{.name = "a b",
                         .volume = file_facts(folder_.write("v.mrc", "v")),
                         .search_yaml = db::TemplateStore(*database_).list()[0].search_yaml};
  const auto check = [&](const Caller& caller) { commands.check_template(caller, wanted); };
  EXPECT_THAT(refusal<Invalid>([&] { check(user_); }), HasSubstr("template name 'a b'"));
  wanted.name = "ribosome";
  EXPECT_THAT(refusal<NotPermitted>([&] { check(other_); }), HasSubstr("belongs to ann"));
  EXPECT_THAT(refusal<NotPermitted>([&] { check(user_); }), HasSubstr("limits.templates_per_user"));
  wanted.volume = file_facts(folder_.file("volume.mrc"));
  EXPECT_NO_THROW(check(user_)) << "it is registered already";
}

TEST_F(CommandsTest, LabelsAndTemplatesOfOneUserAreCounted) {
  Commands commands(*database_, clock_,
                    {.quotas = {.labels_per_user = 1, .templates_per_user = 1}});
  EnqueueRequest labelled = request("a.mrc");
  labelled.label = "one";
  commands.enqueue(user_, labelled);
  commands.check_quota(user_, 1, "");
  commands.check_quota(user_, 1, "one");
  EXPECT_THAT(refusal<NotPermitted>([&] { commands.check_quota(user_, 1, "two"); }),
              HasSubstr("limits.labels_per_user"));
  const std::string settings = db::TemplateStore(*database_).list().at(0).search_yaml;
  const auto add = [&](const Caller& caller, const std::string& name) {
    return refusal<NotPermitted>([&] {
      commands.add_template(caller, {.name = name,
                                     .volume = file_facts(folder_.write("v.mrc", "v")),
                                     .search_yaml = settings});
    });
  };
  EXPECT_EQ(add(other_, "mine"), "not refused");
  EXPECT_EQ(add(other_, "mine"), "not refused") << "it exists";
  EXPECT_THAT(add(other_, "second"), HasSubstr("limits.templates_per_user"));
  EXPECT_EQ(add(root_, "second"), "not refused");
  EXPECT_EQ(add(root_, "third"), "not refused");
}

TEST_F(CommandsTest, AgainMakesAnotherItem) {
  const auto first = enqueue("a.mrc");
  EnqueueRequest again = request("a.mrc");
  again.again = true;
  const auto second = commands_->enqueue(user_, again);
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(second.repeat, 1);
}

TEST_F(CommandsTest, ANewTemplateVersionMakesANewIdentity) {
  const auto first = enqueue("a.mrc");
  const auto added = commands_->add_template(
      user_, {.name = "ribosome",
              .volume = file_facts(folder_.write("volume2.mrc", "other")),
              .volume_sha256 = base::sha256_of_text("other"),
              .search_yaml = "optics_group: {pixel_size: 1, voltage: 300}"});
  EXPECT_EQ(added.record.version, 2);
  EXPECT_FALSE(added.existed);
  EXPECT_NE(enqueue("a.mrc").id, first.id);
  EnqueueRequest old = request("a.mrc");
  old.template_version = 1;
  EXPECT_THROW(commands_->enqueue(user_, old), Conflict);
}

TEST_F(CommandsTest, ATemplateRegisteredTwiceIsTheSame) {
  const TemplateRequest request{.name = "ribosome",
                                .volume = file_facts(folder_.file("volume.mrc")),
                                .volume_sha256 = base::sha256_of_text("volume"),
                                .search_yaml = db::TemplateStore(*database_).list()[0].search_yaml};
  const auto added = commands_->add_template(user_, request);
  EXPECT_TRUE(added.existed);
  EXPECT_EQ(added.record.version, 1);
  EXPECT_EQ(db::TemplateStore(*database_).list().size(), 1u);
}

TEST_F(CommandsTest, BadTemplatesAreRefused) {
  TemplateRequest request{.name = "x y",
                          .volume = file_facts(folder_.file("volume.mrc")),
                          .search_yaml = "optics_group: {pixel_size: 1, voltage: 300}"};
  const auto add = [&] { commands_->add_template(user_, request); };
  for (const char* name : {"", "x y", "-x", "a/b", "ü"}) {
    request.name = name;
    EXPECT_THAT(refusal<Invalid>(add), HasSubstr("template name")) << name;
  }
  request.name = "good-name_1.0";
  request.search_yaml = "pixel_size: 1";
  EXPECT_THAT(refusal<Invalid>(add), HasSubstr("optics_group"));
  request.name = "ribosome";
  request.search_yaml = "optics_group: {pixel_size: 1, voltage: 300}";
  EXPECT_THAT(refusal<NotPermitted>([&] { commands_->add_template(other_, request); }),
              HasSubstr("belongs to ann"));
}

TEST_F(CommandsTest, AnUnknownTemplateIsNotFound) {
  EnqueueRequest wrong = request("a.mrc");
  wrong.template_name = "none";
  EXPECT_THAT(refusal<NotFound>([&] { commands_->enqueue(user_, wrong); }), HasSubstr("'none'"));
  wrong.template_name = "ribosome";
  wrong.template_version = 9;
  EXPECT_THAT(refusal<NotFound>([&] { commands_->enqueue(user_, wrong); }),
              HasSubstr("'ribosome@9'"));
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

TEST_F(CommandsTest, RetryReportsWhatChangedAndTakesTheFileAsItIsNow) {
  const auto id = enqueue("a.mrc").id;
  set_state(id, ItemState::kQuarantined, "bad input: cut short");
  folder_.write("a.mrc", "now it is whole");
  const auto again = retry(id);
  EXPECT_EQ(again.state, ItemState::kQueued);
  EXPECT_THAT(again.reason,
              AllOf(HasSubstr("was QUARANTINED (bad input: cut short)"), HasSubstr("to 15 bytes")));
  EXPECT_EQ(again.micrograph_bytes, 15);
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(CommandsTest, RetryOfAFileThatWasAnotherMeanwhileSaysWhatTheRetryTakes) {
  const auto id = enqueue("a.mrc").id;
  set_state(id, ItemState::kQuarantined, "'a.mrc' has other content");
  EXPECT_THAT(
      retry(id).reason,
      AllOf(HasSubstr("the size, time and inode of the file passed are the registered ones"),
            Not(HasSubstr("unchanged"))));
}

TEST_F(CommandsTest, RetryOfAFileThatIsGoneIsRefused) {
  const auto id = enqueue("a.mrc").id;
  set_state(id, ItemState::kFailed);
  std::filesystem::remove(folder_.file("a.mrc"));
  EXPECT_THAT(refusal<Invalid>([&] { commands_->retry(user_, id, {}); }), HasSubstr("a.mrc"));
  EXPECT_EQ(item(id).state, ItemState::kFailed);
}

TEST_F(CommandsTest, RetryTakesNoFileFromAnotherPlace) {
  const auto id = enqueue("a.mrc").id;
  set_state(id, ItemState::kFailed);
  const RetryRequest other{.micrograph = file_facts(folder_.write("b.mrc", "other"))};
  EXPECT_THAT(refusal<Invalid>([&] { commands_->retry(user_, id, other); }),
              AllOf(HasSubstr("a.mrc"), HasSubstr("b.mrc': enqueue that file instead")));
  EXPECT_EQ(item(id).state, ItemState::kFailed);
}

TEST_F(CommandsTest, RetryTakesAFileThatWasPutInTheMicrographsPlace) {
  const auto id = enqueue("a.mrc").id;
  const auto time = std::filesystem::last_write_time(folder_.file("a.mrc"));
  std::filesystem::rename(folder_.write("new.mrc", "micrograph A.mrc"), folder_.file("a.mrc"));
  std::filesystem::last_write_time(folder_.file("a.mrc"), time);
  // Its inode has it read again.
  ticks(2);
  ASSERT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_THAT(item(id).reason, AllOf(HasSubstr("another file"), HasSubstr("`margay retry`")));
  EXPECT_THAT(retry(id).reason, HasSubstr("the micrograph is another file"));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kActive);
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

}  // namespace
}  // namespace scheduler
