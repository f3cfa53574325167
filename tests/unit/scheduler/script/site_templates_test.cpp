#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/script/job_script.h"
#include "scheduler/script/substitute.h"
#include "tests/scratch_folder.h"
#include "tests/unit/scheduler/script/job_script_inputs.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SiteTemplates : public testing::Test {
 protected:
  SiteTemplates() {
    for (const auto& entry : std::filesystem::directory_iterator(kTemplates)) {
      std::filesystem::copy(entry.path(), folder_.file(entry.path().filename().string()));
    }
    config_ = slurm_config();
    config_.policy.widths = WidthsBy::kFixed;
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

}  // namespace
}  // namespace scheduler
