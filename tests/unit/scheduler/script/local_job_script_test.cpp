// Scripts for searches on the daemon's own machine, as they are rendered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/script/job_script.h"
#include "tests/scratch_folder.h"
#include "tests/unit/scheduler/script/job_script_inputs.h"

namespace scheduler {
namespace {

using slurm::Directives;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(LocalJobScripts, NeedNoSlurm) {
  Config config = slurm_config();
  config.cluster = ClusterKind::kLocal;
  const JobScript script = render_job(config, inputs());
  EXPECT_THAT(script.text, AllOf(Not(HasSubstr("\n#SBATCH")), Not(HasSubstr("\n#MARGAY")),
                                 HasSubstr("attempt=/state/jobs/7/a2\n")));
  EXPECT_EQ(script.gpus, 0);
  EXPECT_TRUE(job_environment(config).empty());
}

TEST(LocalJobScripts, MayHaveATimeLimitAndTheSignalBeforeIt) {
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

TEST(LocalJobScripts, AskForTheMachinesGpusAndProbeThem) {
  Config config = slurm_config();
  config.cluster = ClusterKind::kLocal;
  EXPECT_THAT(render_job(config, inputs()).text,
              AllOf(HasSubstr(" --backend cpu "), HasSubstr("probe='' "), HasSubstr("ranks='' ")));
  config.local.found = {{.id = "GPU-a"}, {.id = "GPU-b"}};
  JobScript script = render_job(config, inputs());
  EXPECT_EQ(script.gpus, 1);
  EXPECT_EQ(asks(config), (Directives{{"gres", "gpu:1"}}));
  EXPECT_THAT(script.text, AllOf(HasSubstr(" --backend cuda "), HasSubstr("probe=--probe "),
                                 HasSubstr("ranks='' ")));
  config.local.gpus_per_search = 2;
  config.local.time = 7200;
  script = render_job(config, inputs());
  EXPECT_EQ(script.gpus, 2);
  EXPECT_EQ(asks(config),
            (Directives{{"gres", "gpu:2"}, {"time", "02:00:00"}, {"signal", "USR1@120"}}));
  EXPECT_THAT(script.text, HasSubstr("ranks='--nproc 2' "));
}

TEST(LocalJobScripts, OfATimeWhenTheMachineHadNoGpusAreRefusedWhereItHas) {
  const tests::ScratchFolder templates;
  templates.write("local.sh", "#!/bin/bash\nexec {{job}} -- {{engine}} match --backend cpu\n");
  Config config = slurm_config();
  config.cluster = ClusterKind::kLocal;
  config.templates = templates.path();
  EXPECT_NO_THROW(check_script_templates(config));
  config.local.found = {{.id = "GPU-a"}};
  try {
    check_script_templates(config);
    ADD_FAILURE() << "it was accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("local.sh"), HasSubstr("--backend {{backend}}"),
                                    HasSubstr("local.gpus to 0")));
  }
}

TEST(LocalJobScripts, CannotAskForMoreThanTime) {
  const tests::ScratchFolder templates;
  templates.write("local.sh", "#!/bin/bash\n#SBATCH --mem=4G\nexec true\n");
  Config config = slurm_config();
  config.cluster = ClusterKind::kLocal;
  config.templates = templates.path();
  EXPECT_THROW(check_script_templates(config), ConfigError);
}

}  // namespace
}  // namespace scheduler
