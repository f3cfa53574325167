#include "scheduler/script/job_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "scheduler/script/item_options.h"
#include "scheduler/script/substitute.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

using slurm::DirectiveError;
using slurm::Directives;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kTemplates = std::string(MARGAY_SOURCE_DIR) + "/templates";

Config slurm_config(Shape shape = Shape::kGpu) {
  Config config;
  config.state = "/state";
  config.engine = "/opt/margay engine";
  config.templates = kTemplates;
  config.cluster = ClusterKind::kSlurm;
  config.slurm.shape = shape;
  return config;
}

ScriptInputs inputs(const Directives& options = {}) {
  return {
      .item = {.id = 7, .options = options},
      .attempt = {
          .item_id = 7, .number = 2, .token = "margay-x-7-a2", .directory = "/state/jobs/7/a2"}};
}

Directives asks(const Config& config, const ScriptInputs& given = inputs()) {
  return slurm::parse_directives(render_job(config, given).text, "rendered");
}

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
  given.shape = Shape::kNodes;
  EXPECT_TRUE(render_job(slurm_config(), given).wide);
  given.shape.reset();
  EXPECT_FALSE(render_job(slurm_config(), given).wide);
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

TEST(JobScripts, TheEngineIsToldWhatToComputeOnByWhatTheJobAsksFor) {
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

TEST(JobScripts, OfThisMachineNeedNoSlurm) {
  Config config = slurm_config();
  config.cluster = ClusterKind::kLocal;
  const JobScript script = render_job(config, inputs());
  EXPECT_THAT(script.text, AllOf(Not(HasSubstr("\n#SBATCH")), Not(HasSubstr("\n#MARGAY")),
                                 HasSubstr("attempt=/state/jobs/7/a2\n")));
  EXPECT_EQ(script.gpus, 0);
  EXPECT_TRUE(job_environment(config).empty());
}

TEST(JobScripts, OfThisMachineMayHaveATimeLimitAndTheSignalBeforeIt) {
  Config config = slurm_config();
  config.cluster = ClusterKind::kLocal;
  config.local.time = 7200;
  EXPECT_EQ(asks(config), (Directives{{"time", "02:00:00"}, {"signal", "USR1@120"}}));
  ScriptInputs again = inputs();
  again.time_factor = 1.5;
  EXPECT_EQ(asks(config, again).at("time"), "03:00:00");
  config.local.time = 60;
  EXPECT_EQ(asks(config).at("signal"), "USR1@30");
}

TEST(JobScripts, OfThisMachineCannotAskForMoreThanTime) {
  const tests::ScratchFolder templates;
  templates.write("local.sh", "#!/bin/bash\n#SBATCH --mem=4G\nexec true\n");
  Config config = slurm_config();
  config.cluster = ClusterKind::kLocal;
  config.templates = templates.path();
  EXPECT_THROW(check_script_templates(config), ConfigError);
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

class SiteTemplates : public testing::Test {
 protected:
  SiteTemplates() {
    for (const auto& entry : std::filesystem::directory_iterator(kTemplates)) {
      std::filesystem::copy(entry.path(), folder_.file(entry.path().filename().string()));
    }
    config_ = slurm_config();
    config_.templates = folder_.path();
  }

  std::string refusal() {
    try {
      check_script_templates(config_);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "not refused";
  }

  tests::ScratchFolder folder_;
  Config config_;
};

TEST_F(SiteTemplates, ThoseThatComeWithMargayAreGood) {
  EXPECT_EQ(refusal(), "not refused");
  config_.cluster = ClusterKind::kLocal;
  EXPECT_EQ(refusal(), "not refused");
}

TEST_F(SiteTemplates, EveryOneIsTriedWhicheverIsUsed) {
  std::filesystem::remove(folder_.file("node.sbatch"));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("node.sbatch"), HasSubstr("does not exist")));
  config_.cluster = ClusterKind::kLocal;
  EXPECT_EQ(refusal(), "not refused");
  std::filesystem::remove(folder_.file("local.sh"));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("local.sh"), HasSubstr("'templates'")));
}

TEST_F(SiteTemplates, ThatSetMargaysOwnOptionsAreRefusedWithFileAndLine) {
  folder_.write("cpu.sbatch", "#!/bin/bash\n#\n#SBATCH --job-name=mine\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cpu.sbatch, line 3: --job-name"), HasSubstr("label")));
  folder_.write("cpu.sbatch", "#!/bin/bash\n#SBATCH -o out.log\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cpu.sbatch, line 2: --output"), HasSubstr("job.log")));
}

TEST_F(SiteTemplates, FaultsNameTheFileAndTheLine) {
  const std::string start = "#!/bin/bash\n#MARGAY include site.sh\nset -u\n";
  folder_.write("site.sh", "echo {{engine}}\n");
  folder_.write("cpu.sbatch", start + "echo {{nothing}}\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cpu.sbatch', line 4"), HasSubstr("'nothing'")));
  folder_.write("cpu.sbatch", start + "#MARGAY setpu\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cpu.sbatch', line 4"), HasSubstr("#MARGAY setup")));
  folder_.write("cpu.sbatch", start + "#MARGAY include ../secret\n");
  EXPECT_THAT(refusal(), HasSubstr("line 4"));
  folder_.write("cpu.sbatch", start + "#MARGAY include more.sh\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("more.sh"), HasSubstr("does not exist")));
  folder_.write("more.sh", "true\n#MARGAY setup\n");
  EXPECT_THAT(refusal(), HasSubstr("more.sh', line 2"));
  folder_.write("more.sh", "true\n\n#SBATCH --qos=x\n");
  EXPECT_THAT(refusal(), HasSubstr("more.sh', line 3"));
  folder_.write("more.sh", "true\necho {{odd}}\n");
  EXPECT_THAT(refusal(), HasSubstr("more.sh', line 2"));
  folder_.write("more.sh", "true\n");
  EXPECT_EQ(refusal(), "not refused");
  folder_.write("cpu.sbatch", "#!/bin/bash\n#SBATCH --constraint={{token}}\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cpu.sbatch"), HasSubstr("double braces")));
  folder_.write("cpu.sbatch", "echo no interpreter\n");
  EXPECT_THAT(refusal(), HasSubstr("#!/bin/bash"));
}

// As a site may have copied and changed them before there was margay-job.
TEST_F(SiteTemplates, OfAnOlderMargayAreRefusedWithWhatToDo) {
  const auto tells_what_to_do = [](const std::string& place) {
    return AllOf(HasSubstr(place), HasSubstr("older Margay"), HasSubstr("copy gpu.sbatch"),
                 HasSubstr("docs/slurm.md"));
  };
  folder_.write("gpu.sbatch",
                "#!/bin/bash\nset -u\n\n#MARGAY include attempt.sh \nbegin_attempt\n");
  folder_.write("attempt.sh", "begin_attempt() { true; }\n");
  EXPECT_THAT(refusal(), tells_what_to_do("gpu.sbatch', line 4: '#MARGAY include attempt.sh'"));
  folder_.write("gpu.sbatch", "#!/bin/bash\n. /site/margay.sh\nbegin_attempt\nrun_search\n");
  EXPECT_THAT(refusal(), tells_what_to_do("gpu.sbatch', line 3: 'begin_attempt'"));
  config_.cluster = ClusterKind::kLocal;
  folder_.write("local.sh", "#!/bin/bash\n#MARGAY include attempt.sh\nbegin_attempt\nrun_search\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("local.sh', line 2"), HasSubstr("copy local.sh")));
}

TEST_F(SiteTemplates, ContradictionsWithTheConfigurationAreRefused) {
  folder_.write("gpu.sbatch", "#!/bin/bash\n#SBATCH --gpus-per-task=1\n");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("shape gpu"), HasSubstr("--gpus-per-task")));
  config_.slurm.options = {{"ntasks", "1"}};
  EXPECT_EQ(refusal(), "not refused");
}

TEST_F(SiteTemplates, ShapesThatAreNotUsedNeedNotFitTheSitesOptions) {
  config_.slurm.options = {{"mem-per-gpu", "8G"}, {"ntasks", "1"}};
  EXPECT_EQ(refusal(), "not refused");
  config_.slurm.shape_options[Shape::kNodes] = {{"time", "01:00:00"}};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("shape nodes (nodes.sbatch, slurm.options"),
                               HasSubstr("--ntasks=1")));
}

TEST_F(SiteTemplates, SetupLinesNeedAPlace) {
  folder_.write("cpu.sbatch", "#!/bin/bash\necho\n");
  EXPECT_EQ(refusal(), "not refused");
  config_.slurm.setup = {"module load x"};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cpu.sbatch"), HasSubstr("#MARGAY setup")));
}

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
