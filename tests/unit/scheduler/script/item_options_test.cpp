#include "scheduler/script/item_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "scheduler/script/job_script.h"
#include "tests/unit/scheduler/script/job_script_inputs.h"

namespace scheduler {
namespace {

using slurm::DirectiveError;
using slurm::Directives;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string item_refusal(const Config& config, const Directives& options, bool privileged = false) {
  try {
    check_item_options(config, options, privileged);
  } catch (const DirectiveError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(ItemOptions, AreKeptInTheirCanonicalForm) {
  EXPECT_EQ(check_item_options(slurm_config(),
                               {{"time", "90"}, {"mem", "2048"}, {"job-name", "my search"}}, false),
            (Directives{{"time", "01:30:00"}, {"mem", "2G"}, {"job-name", "my search"}}));
  EXPECT_TRUE(check_item_options(slurm_config(), {}, false).empty());
}

TEST(ItemOptions, ThatAUserMayNotGiveAreRefused) {
  EXPECT_THAT(item_refusal(slurm_config(), {{"chdir", "/tmp"}}),
              AllOf(HasSubstr("chdir"), HasSubstr("administrator"), HasSubstr("mail-user")));
  EXPECT_EQ(item_refusal(slurm_config(), {{"chdir", "/tmp"}, {"nodelist", "n1"}}, true),
            "not refused");
  for (const char* option : {"account", "qos", "reservation", "nice", "wckey", "hint"}) {
    EXPECT_THAT(item_refusal(slurm_config(), {{option, "1"}}), HasSubstr("administrator"))
        << option;
  }
  Config config = slurm_config();
  config.slurm.user_options = {};
  EXPECT_THAT(item_refusal(config, {{"time", "1"}}), HasSubstr("you may give none"));
}

TEST(ItemOptions, ThatAreUnknownOrContradictoryAreRefusedEvenToRoot) {
  EXPECT_THAT(item_refusal(slurm_config(), {{"tiem", "1"}}), HasSubstr("did you mean 'time'"));
  EXPECT_THAT(item_refusal(slurm_config(), {{"tiem", "1"}}, true), HasSubstr("'time'"));
  EXPECT_THAT(item_refusal(slurm_config(), {{"output", "x"}}, true), HasSubstr("Margay"));
  EXPECT_THAT(item_refusal(slurm_config(), {{"time", "soon"}}), HasSubstr("option time: --time"));
  EXPECT_THAT(item_refusal(slurm_config(), {{"mem", "1G"}, {"mem-per-cpu", "1G"}}),
              HasSubstr("exclude each other"));
  EXPECT_THAT(item_refusal(slurm_config(Shape::kCpu), {{"mem-per-gpu", "1G"}}),
              HasSubstr("GPUs on each node"));
  EXPECT_THAT(item_refusal(slurm_config(), {{"job-name", "a\nb"}}), HasSubstr("job-name"));
}

TEST(ItemOptions, MustFitWhatTheItemGetsWhenItIsPromotedToo) {
  Config config = slurm_config();
  EXPECT_EQ(item_refusal(config, {{"ntasks", "1"}}), "not refused");
  config.slurm.urgent_shape = Shape::kNodes;
  EXPECT_THAT(item_refusal(config, {{"ntasks", "1"}}),
              AllOf(HasSubstr("shape nodes"), HasSubstr("--ntasks=1")));
}

TEST(ItemOptions, CannotAskForGpusThatTheirSearchWouldNotUse) {
  for (const char* value : {"gpu:2", "gpu:h200:4"}) {
    EXPECT_THAT(item_refusal(slurm_config(), {{"gres", value}}, true),
                AllOf(HasSubstr("option gres: '" + std::string(value) + "'"),
                      HasSubstr("a search in the shape gpu uses one")));
  }
  EXPECT_THAT(item_refusal(slurm_config(), {{"gpus-per-node", "2"}}), HasSubstr("option gpus-per"));
  EXPECT_EQ(item_refusal(slurm_config(), {{"gres", "gpu:h200:1"}}), "not refused");
  EXPECT_EQ(item_refusal(slurm_config(), {{"gres", "none"}}), "not refused");
  EXPECT_EQ(item_refusal(slurm_config(Shape::kNode), {{"gres", "gpu:2"}}), "not refused");
}

TEST(ItemOptions, CannotAskForNodesThatTheirSearchWouldNotUse) {
  for (const Shape shape : {Shape::kCpu, Shape::kGpu}) {
    for (const char* value : {"2", "1-4"}) {
      EXPECT_THAT(item_refusal(slurm_config(shape), {{"nodes", value}}, true),
                  AllOf(HasSubstr("option nodes: '" + std::string(value) + "'"),
                        HasSubstr("a search in the shape " + to_string(shape) + " runs on one"),
                        HasSubstr("--priority urgent"), HasSubstr("set slurm.shape to nodes")));
    }
    EXPECT_EQ(item_refusal(slurm_config(shape), {{"nodes", "1"}}), "not refused");
  }
  EXPECT_EQ(item_refusal(slurm_config(Shape::kNode), {{"nodes", "2"}}), "not refused");
  EXPECT_EQ(item_refusal(slurm_config(Shape::kNodes), {{"nodes", "2"}}), "not refused");
}

TEST(ItemOptions, NeedACluster) {
  Config config = slurm_config();
  config.cluster = ClusterKind::kLocal;
  EXPECT_THAT(item_refusal(config, {{"time", "1"}}, true), HasSubstr("its own machine"));
}

TEST(ItemOptions, ANameForPeopleIsInTheCommentAlone) {
  const ScriptInputs given = inputs({{"job-name", "my search"}});
  EXPECT_THAT(render_job(slurm_config(), given).text, Not(HasSubstr("my search")));
  EXPECT_EQ(job_comment("x", given.item, given.attempt),
            R"({"margay":"x","item":7,"attempt":2,"label":"my search"})");
}

TEST(JobComments, SayWhoseSearchItIsAndOfWhat) {
  ScriptInputs given = inputs();
  given.item.owner = "ann";
  given.item.micrograph_path = "/data/grid 1/a.mrc";
  EXPECT_EQ(job_comment("x", given.item, given.attempt),
            R"({"margay":"x","item":7,"attempt":2,"owner":"ann","micrograph":"a.mrc"})");
}

TEST(JobComments, FitIntoWhatSlurmTakes) {
  ScriptInputs given = inputs();
  EXPECT_EQ(job_comment("x", given.item, given.attempt), R"({"margay":"x","item":7,"attempt":2})");
  for (const std::string piece : {"a", "\u00e9", "\"", "\U0001f642", "\n", "\xff"}) {
    given.item.label.clear();
    for (int i = 0; i < 1500; ++i) given.item.label += piece;
    given.item.micrograph_path = "/data/" + given.item.label;
    const std::string comment = job_comment("x", given.item, given.attempt);
    EXPECT_LE(comment.size(), 1024U);
    EXPECT_GT(comment.size(), 1000U);
    EXPECT_TRUE(nlohmann::json::accept(comment)) << comment;
  }
}

TEST(JobEnvironments, HoldNothingOfTheDaemons) {
  setenv("SLURM_JWT", "secret", 1);
  Config config = slurm_config();
  config.slurm.commands = "/opt/slurm/bin";
  EXPECT_EQ(job_environment(config),
            (std::map<std::string, std::string>{
                {"LANG", "C.UTF-8"}, {"PATH", "/opt/slurm/bin:/usr/local/bin:/usr/bin:/bin"}}));
  unsetenv("SLURM_JWT");
}

}  // namespace
}  // namespace scheduler
