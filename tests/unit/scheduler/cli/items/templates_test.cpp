#include "scheduler/cli/items/templates.h"

#include <gmock/gmock.h>

#include "base/sha256.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliTemplatesTest : public CliTest {
 protected:
  CliTemplatesTest() { register_template(); }

  void add_version() const {
    const std::string settings = write("other.yaml", search_settings() + "# other\n");
    EXPECT_EQ(margay({"template", "add", file("ribosome.mrc"), "--name", "ribosome", "--config",
                      settings})
                  .exit,
              0);
  }
};

TEST_F(CliTemplatesTest, ATemplateIsShownWithItsSettingsAsTheyWereRegistered) {
  add_version();
  EXPECT_THAT(margay({"template", "show", "ribosome"}).out,
              AllOf(HasSubstr("ribosome@2"), HasSubstr(file("ribosome.mrc")),
                    HasSubstr(base::sha256_of_text("volume"))));
  EXPECT_EQ(margay({"template", "show", "ribosome@1", "--settings"}).out, search_settings());
  EXPECT_EQ(
      margay({"template", "show", "ribosome", "--json"}).document().at("template").at("version"),
      2);
  const Outcome missing = margay({"template", "show", "ribosom"});
  EXPECT_EQ(missing.exit, 4);
  EXPECT_THAT(missing.error, HasSubstr("did you mean 'ribosome'?"));
}

TEST_F(CliTemplatesTest, ARemovedVersionGetsNoNewItemAndItsNumberNeverReturns) {
  add_version();
  EXPECT_EQ(enqueue("old.mrc"), 1);
  EXPECT_THAT(margay({"template", "remove", "ribosome"}).error,
              HasSubstr("template ribosome@2 has 1 unfinished item"));
  set_state(1, db::ItemState::kDone);
  EXPECT_EQ(margay({"template", "remove", "ribosome@2"}).out, "template ribosome@2 removed\n");
  EXPECT_EQ(get("/v1/items/1").at("item").at("template"), "ribosome@2");
  EXPECT_EQ(margay({"enqueue", write("a.mrc"), "--template", "ribosome@2", "--defocus-u", "1",
                    "--defocus-v", "1"})
                .exit,
            4);
  enqueue("new.mrc");
  EXPECT_EQ(get("/v1/items/2").at("item").at("template"), "ribosome@1");
  add_version();
  EXPECT_THAT(margay({"template", "list"}).out,
              AllOf(HasSubstr("ribosome@3"), Not(HasSubstr("ribosome@2"))));
}

TEST_F(CliTemplatesTest, ARenamedTemplateTakesItsItemsAlong) {
  enqueue("one.mrc");
  EXPECT_EQ(margay({"template", "rename", "ribosome", "no blanks"}).exit, 1);
  EXPECT_EQ(margay({"template", "rename", "ribosome", "large"}).out,
            "template ribosome is now large\n");
  EXPECT_EQ(get("/v1/items/1").at("item").at("template"), "large@1");
  EXPECT_EQ(margay({"template", "rename", "ribosome", "other"}).exit, 4);
  register_template();
  const Outcome taken = margay({"template", "rename", "ribosome", "large"});
  EXPECT_EQ(taken.exit, 6);
  EXPECT_THAT(taken.error, HasSubstr("there is or was a template 'large'"));
}

TEST_F(CliTemplatesTest, ThoseOfOthersAreNotChanged) {
  const int exit = as_nobody([this] { return margay({"template", "remove", "ribosome"}).exit; });
  if (exit == -1) GTEST_SKIP() << "needs root";
  EXPECT_EQ(exit, 5);
  EXPECT_EQ(get("/v1/templates").at("templates").size(), 1U);
}

TEST_F(CliTemplatesTest, TheEnginesDoubtsAreShown) {
  count_ = [](const CountQuestion&) {
    return CountAnswer{.counts = {.engine = "1.0", .orientations = 5},
                       .notes = {"optics_group.voltage is 3000 kV"}};
  };
  const Outcome added = margay({"template", "add", write("v.mrc"), "--name", "v", "--config",
                                write("search.yaml", search_settings())});
  EXPECT_EQ(added.exit, 0);
  EXPECT_EQ(added.error, "margay: warning: optics_group.voltage is 3000 kV\n");
}

}  // namespace
}  // namespace scheduler
