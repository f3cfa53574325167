// Templates, and how much of everything one user may have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "db/templates.h"
#include "tests/unit/scheduler/commands/commands_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using testing::AllOf;
using testing::HasSubstr;

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

}  // namespace
}  // namespace scheduler
