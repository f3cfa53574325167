#include "scheduler/script/job_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/script/substitute.h"
#include "tests/scratch_folder.h"
#include "tests/unit/scheduler/script/job_script_inputs.h"

namespace scheduler {
namespace {

using slurm::DirectiveError;
using slurm::Directives;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(JobScripts, EachShapeAsksForWhatItIs) {
  const Directives signal = {{"signal", "USR1@120"}};
  const auto expect = [&](Shape shape, Directives expected, int gpus, bool wide) {
    expected.merge(Directives(signal));
    const JobScript script = render_job(slurm_config(shape), inputs());
    EXPECT_EQ(slurm::parse_directives(script.text, "x"), expected) << to_string(shape);
    EXPECT_EQ(script.gpus, gpus) << to_string(shape);
    EXPECT_EQ(script.wide, wide) << to_string(shape);
  };
  expect(Shape::kCpu, {{"nodes", "1"}}, 0, false);
  expect(Shape::kGpu, {{"nodes", "1"}, {"gres", "gpu:1"}}, 1, false);
  expect(Shape::kNode, {{"nodes", "1"}, {"gres", "gpu:4"}, {"ntasks-per-node", "4"}}, 4, false);
  expect(Shape::kNodes, {{"nodes", "4"}, {"gres", "gpu:4"}, {"ntasks-per-node", "4"}}, 16, true);
}

TEST(JobScripts, TheShapeOfTheAttemptGoesBeforeTheConfigurations) {
  ScriptInputs given = inputs();
  given.shape = job_shape_of(slurm_config().slurm, Shape::kNodes);
  EXPECT_TRUE(render_job(slurm_config(), given).wide);
  given.shape.reset();
  EXPECT_FALSE(render_job(slurm_config(), given).wide);
}

TEST(JobScripts, AWidthDecidesTheScriptTemplateAndWhatItAsksFor) {
  const auto expect = [](const Width& width, const Directives& expected) {
    ScriptInputs given = inputs();
    given.shape = job_shape_of(slurm_config().slurm, width);
    Directives asked = slurm::parse_directives(render_job(slurm_config(), given).text, "x");
    asked.erase("signal");
    EXPECT_EQ(asked, expected) << to_string(width);
  };
  expect({.gpus_per_node = 0}, {{"nodes", "1"}});
  expect({}, {{"nodes", "1"}, {"gres", "gpu:1"}});
  expect({.gpus_per_node = 4}, {{"nodes", "1"}, {"gres", "gpu:4"}, {"ntasks-per-node", "4"}});
  expect({.nodes = 8, .gpus_per_node = 4},
         {{"nodes", "8"}, {"gres", "gpu:4"}, {"ntasks-per-node", "4"}});
}

TEST(JobScripts, AClassAsksForItsOwnPlaceAndAnItemForAnother) {
  Config config = slurm_config();
  config.slurm.options = {{"partition", "gpu"}, {"qos", "normal"}, {"time", "02:00:00"}};
  config.policy.classes[db::Priority::kUrgent].options = {{"partition", "fast"}, {"nice", "-5"}};
  ScriptInputs given = inputs();
  given.shape = class_shape_of(config.slurm, db::Priority::kUrgent);
  Directives asked = asks(config, given);
  EXPECT_EQ(asked["partition"], "fast");
  EXPECT_EQ(asked["qos"], "normal");
  EXPECT_EQ(asked["nice"], "-5");
  given.item.options = {{"partition", "mine"}};
  EXPECT_EQ(asks(config, given)["partition"], "mine");
  given.item.options.clear();
  given.shape = class_shape_of(config.slurm, db::Priority::kNormal);
  EXPECT_EQ(asks(config, given)["partition"], "gpu");
}

TEST(JobScripts, OptionsOfAClassThatContradictTheSitesAreRefusedAtStart) {
  Config config = slurm_config();
  config.policy.classes[db::Priority::kLow].options = {{"gpu-bind", "closest"}};
  try {
    check_script_templates(config);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("policy.classes.low"), HasSubstr("slurmrestd")));
  }
}

TEST(JobScripts, ANodeOfOneGpuKeepsTheSitesShape) {
  SlurmOptions slurm{.shape = Shape::kNode, .urgent_shape = Shape::kNodes, .gpus_per_node = 1};
  EXPECT_EQ(job_shape_of(slurm, Width{}).shape, Shape::kNode);
  EXPECT_EQ(job_shape_of(slurm, Width{.nodes = 4}).shape, Shape::kNodes);
  slurm.nodes = 1;
  slurm.shape = Shape::kGpu;
  slurm.urgent_shape.reset();
  EXPECT_EQ(job_shape_of(slurm, Width{}).shape, Shape::kGpu);
}

TEST(JobScripts, LaterSourcesGoOverEarlierOnes) {
  tests::ScratchFolder folder;
  folder.write("gpu.sbatch",
               "#!/bin/bash\n#SBATCH --partition=of-template --qos=of-template\n"
               "#SBATCH --account=of-template --constraint=of-template\necho\n");
  Config config = slurm_config();
  config.templates = folder.path();
  config.slurm.options = {{"qos", "of-site"}, {"account", "of-site"}, {"constraint", "of-site"}};
  config.slurm.shape_options[Shape::kGpu] = {{"account", "of-shape"}, {"constraint", "of-shape"}};
  config.slurm.shape_options[Shape::kCpu] = {{"account", "of-another-shape"}};
  EXPECT_EQ(asks(config, inputs({{"constraint", "of-item"}})),
            (Directives{{"nodes", "1"},
                        {"gres", "gpu:1"},
                        {"partition", "of-template"},
                        {"qos", "of-site"},
                        {"account", "of-shape"},
                        {"constraint", "of-item"}}));
}

TEST(JobScripts, AnotherWayToAskForGpusReplacesTheShapes) {
  EXPECT_EQ(asks(slurm_config(), inputs({{"gpus-per-node", "a100:2"}})).count("gres"), 0U);
  const JobScript script =
      render_job(slurm_config(Shape::kNodes), inputs({{"gres", "gpu:h100:2"}}));
  EXPECT_EQ(script.gpus, 8);
  EXPECT_THAT(script.text, AllOf(HasSubstr("--ntasks-per-node=2\n"), HasSubstr("ranks=2 ")));
}

TEST(JobScripts, TheEngineComputesOnWhatTheJobAsksFor) {
  for (const Shape shape : {Shape::kGpu, Shape::kNode, Shape::kNodes}) {
    Config config = slurm_config(shape);
    EXPECT_THAT(render_job(config, inputs()).text, HasSubstr(" --backend cuda "));
    EXPECT_THAT(render_job(config, inputs({{"gres", "none"}})).text, HasSubstr(" --backend cpu "));
    config.slurm.backend = EngineBackend::kCpu;
    EXPECT_THAT(render_job(config, inputs()).text, HasSubstr(" --backend cpu "));
    config.slurm.backend = EngineBackend::kCuda;
    EXPECT_THAT(render_job(config, inputs({{"gres", "none"}})).text, HasSubstr(" --backend cuda "));
  }
  EXPECT_THAT(render_job(slurm_config(Shape::kCpu), inputs()).text, HasSubstr(" --backend cpu "));
}

TEST(JobScripts, TheHeaderStandsRightBehindTheFirstLine) {
  EXPECT_THAT(render_job(slurm_config(), inputs()).text,
              StartsWith("#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:1\n"
                         "#SBATCH --signal=USR1@120\n# One search"));
}

TEST(JobScripts, HostsWithFailuresAreExcludedBesidesTheSitesOwn) {
  ScriptInputs given = inputs();
  given.excluded_hosts = {"n02", "n03"};
  EXPECT_EQ(asks(slurm_config(), given).at("exclude"), "n02,n03");
  given.item.options = {{"exclude", "n01,n03"}};
  EXPECT_EQ(asks(slurm_config(), given).at("exclude"), "n01,n03,n02");
  given.item.options = {{"nodelist", "n02"}};
  EXPECT_EQ(asks(slurm_config(), given).at("exclude"), "n03");
}

TEST(JobScripts, ATimeLimitIsStretched) {
  Config config = slurm_config();
  config.slurm.options = {{"time", "01:00:00"}};
  ScriptInputs given = inputs();
  given.time_factor = 2.25;
  EXPECT_EQ(asks(config, given).at("time"), "02:15:00");
  config.slurm.options = {{"time", "UNLIMITED"}};
  EXPECT_EQ(asks(config, given).at("time"), "UNLIMITED");
  config.slurm.options.clear();
  EXPECT_EQ(asks(config, given).count("time"), 0U);
}

TEST(JobScripts, ATimeLimitIsNotStretchedBeyondTheLongest) {
  Config config = slurm_config();
  config.slurm.options = {{"time", "01:00:00"}};
  config.slurm.longest_time = 2 * 3600;
  ScriptInputs given = inputs();
  given.time_factor = 2.25;
  EXPECT_EQ(asks(config, given).at("time"), "02:00:00");
  config.slurm.longest_time = 1800;  // what was asked for stays
  EXPECT_EQ(asks(config, given).at("time"), "01:00:00");
}

TEST(JobScripts, WhicheverMemoryIsAskedForIsRaised) {
  ScriptInputs given = inputs();
  given.memory_factor = 1.5;
  for (const char* option : {"mem", "mem-per-cpu", "mem-per-gpu"}) {
    Config config = slurm_config();
    config.slurm.options = {{option, "32G"}};
    EXPECT_EQ(asks(config, given).at(option), "48G") << option;
    EXPECT_EQ(render_job(config, given).raised, (Directives{{option, "48G"}}));
  }
  Config config = slurm_config();
  config.slurm.options = {{"mem", "32G"}};
  EXPECT_EQ(render_job(config, inputs()).raised, Directives());
  given.item.options = {{"mem", "3M"}};
  EXPECT_EQ(asks(config, given).at("mem"), "5M") << "the item's own, rounded up";
  given.item.options = {{"mem", "0"}};
  EXPECT_EQ(asks(config, given).at("mem"), "0") << "all of the node's";
  config.slurm.options.clear();
  given.item.options.clear();
  EXPECT_EQ(asks(config, given).count("mem"), 0U);
}

TEST(JobScripts, MemoryIsNotRaisedBeyondTheLargestOfANode) {
  ScriptInputs given = inputs();
  given.memory_factor = 2.25;
  const std::vector<std::pair<Directives, Directives>> table = {
      {{{"mem", "32G"}}, {{"mem", "64G"}}},
      {{{"mem", "100G"}}, {{"mem", "100G"}}},  // what was asked for stays
      {{{"mem-per-cpu", "4G"}, {"cpus-per-task", "8"}}, {{"mem-per-cpu", "8G"}}},
      {{{"mem-per-gpu", "20G"}, {"gres", "gpu:2"}}, {{"mem-per-gpu", "32G"}}},
  };
  for (const auto& [options, raised] : table) {
    Config config = slurm_config();
    config.slurm.largest_memory = 64 * 1024;
    config.slurm.options = options;
    EXPECT_EQ(asks(config, given).at(raised.begin()->first), raised.begin()->second);
  }
}

TEST(JobScripts, TheWarningIsNeverLongerThanHalfOfTheTime) {
  const std::map<std::string, std::string> warnings = {
      {"01:00:00", "USR1@120"}, {"00:04:00", "USR1@120"}, {"00:03:00", "USR1@90"},
      {"00:01:00", "USR1@30"},  {"00:00:01", "USR1@0"},   {"UNLIMITED", "USR1@120"}};
  for (const auto& [time, warning] : warnings) {
    EXPECT_EQ(asks(slurm_config(), inputs({{"time", time}})).at("signal"), warning) << time;
  }
}

TEST(JobScripts, ContradictionsAreRefused) {
  Config config = slurm_config(Shape::kCpu);
  config.slurm.options = {{"mem-per-gpu", "4G"}};
  EXPECT_THROW(render_job(config, inputs()), DirectiveError);
  config.slurm.shape = Shape::kGpu;
  EXPECT_EQ(asks(config).at("mem-per-gpu"), "4G");
}

TEST(JobScripts, NameTheTypeOfTheGpusOfTheirShape) {
  Config config = slurm_config();
  config.slurm.gpu_types = {{Shape::kGpu, "a100"}, {Shape::kNodes, "h200"}};
  EXPECT_EQ(asks(config).at("gres"), "gpu:a100:1");
  config.slurm.shape = Shape::kNode;
  EXPECT_EQ(asks(config).at("gres"), "gpu:4");
  config.slurm.shape = Shape::kNodes;
  EXPECT_EQ(asks(config).at("gres"), "gpu:h200:4");
  EXPECT_EQ(render_job(config, inputs()).gpus, 16);
  config.slurm.options = {{"gres", "lscratch:100"}};
  EXPECT_EQ(asks(config).at("gres"), "gpu:h200:4,lscratch:100");
}

TEST(JobScripts, WithOtherGpusThanTheirShapeHasAreRefusedAtTheStart) {
  Config config = slurm_config();
  const auto refusal = [&]() -> std::string {
    try {
      check_script_templates(config);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  config.slurm.shape_options[Shape::kNode] = {{"gres", "gpu:h200:1"}};
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("shape node has 4 GPUs on each node"),
                    HasSubstr("slurm.shapes.node asks for 1"), HasSubstr("slurm.gpu_type")));
  config.slurm.shape_options[Shape::kNode] = {{"gres", "gpu:h200:4"}};
  EXPECT_EQ(refusal(), "");
  config.slurm.shape_options[Shape::kNode] = {{"gres", "none"}};
  EXPECT_EQ(refusal(), "");
}

TEST(JobScripts, WithNodesThatOneTaskDoesNotUseAreRefusedAtTheStart) {
  const auto refusal = [](const Config& config) -> std::string {
    try {
      check_script_templates(config);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  for (const Shape shape : {Shape::kCpu, Shape::kGpu}) {
    Config config = slurm_config(shape);
    config.slurm.shape_options[shape] = {{"nodes", "2"}};
    EXPECT_THAT(refusal(config),
                AllOf(HasSubstr("shape " + to_string(shape) + " runs on one node"),
                      HasSubstr("slurm.shapes." + to_string(shape) + " asks for 2 nodes")));
  }
  Config config = slurm_config(Shape::kGpu);
  config.slurm.options = {{"nodes", "3"}};
  EXPECT_THAT(refusal(config), HasSubstr("slurm.options or"));
  config.slurm.options.clear();
  config.slurm.shape_options[Shape::kNodes] = {{"nodes", "3"}};
  EXPECT_EQ(refusal(config), "");
}

TEST(JobScripts, HaveTheSitesRarerOptionsWhereTheTransportCanSayThem) {
  Config config = slurm_config();
  config.slurm.options = {{"wckey", "search"}, {"tmp", "2G"}};
  EXPECT_THAT(render_job(config, inputs()).text,
              AllOf(HasSubstr("#SBATCH --wckey=search\n"), HasSubstr("#SBATCH --tmp=2G\n")));
  for (const auto& [option, value] : Directives{{"cpus-per-gpu", "8"},
                                                {"gpu-bind", "closest"},
                                                {"hint", "nomultithread"},
                                                {"switches", "1@30:00"},
                                                {"prefer", "a100|h200"}}) {
    config.slurm.options = {{option, value}};
    config.slurm.transport = Transport::kCli;
    EXPECT_EQ(asks(config).at(option), value);
    config.slurm.transport = Transport::kRest;
    try {
      check_script_templates(config);
      ADD_FAILURE() << option;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("--" + option), HasSubstr("slurm.transport to cli")));
    }
  }
}

TEST(JobScripts, SiteLinesStandAsTheyAre) {
  Config config = slurm_config();
  config.slurm.setup = {"module load cuda/13 # {{not}} ours", "export A=\"$B\""};
  EXPECT_THAT(render_job(config, inputs()).text,
              HasSubstr("\nmodule load cuda/13 # {{not}} ours\nexport A=\"$B\"\n\nexec "));
}

TEST(JobScripts, AreShortAndNameEachProgramByItsPath) {
  for (const Shape shape : {Shape::kCpu, Shape::kGpu, Shape::kNode, Shape::kNodes}) {
    Config config = slurm_config(shape);
    config.engine = "/opt/margay/margay-engine";
    const std::string text = render_job(config, inputs()).text;
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40) << text;
    EXPECT_THAT(text, AllOf(HasSubstr("exec /opt/margay/margay-job run "),
                            HasSubstr(" /opt/margay/margay-job rank "),
                            HasSubstr(" /opt/margay/margay-engine match ")));
    config.job = "/usr/local/bin/margay-job";
    EXPECT_THAT(render_job(config, inputs()).text, HasSubstr("exec /usr/local/bin/margay-job run"));
  }
}

TEST(JobPrograms, ThatAreMissingAreNamedWithWhereTheyWereLookedFor) {
  const auto refusal = [](const Config& config) -> std::string {
    try {
      check_job_program(config);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  Config config = slurm_config();
  config.engine = "/nowhere/margay-engine";
  EXPECT_THAT(refusal(config), AllOf(HasSubstr("beside the engine at '/nowhere/margay-job'"),
                                     HasSubstr("No such file"), HasSubstr("set 'job'")));
  config.job = "/else/where";
  EXPECT_THAT(refusal(config), HasSubstr("looked for at '/else/where'"));
  config.job = MARGAY_BIN_DIR "/margay-job";
  EXPECT_EQ(refusal(config), "");
}

}  // namespace
}  // namespace scheduler
