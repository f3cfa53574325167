// A site on Slurm with the templates that come with Margay, and an attempt there.
#pragma once

#include <string>

#include "scheduler/script/job_script.h"

namespace scheduler {

inline const std::string kTemplates = std::string(MARGAY_SOURCE_DIR) + "/templates";

inline Config slurm_config(Shape shape = Shape::kGpu) {
  Config config;
  config.state = "/state";
  config.engine = "/opt/margay engine";
  config.templates = kTemplates;
  config.cluster = ClusterKind::kSlurm;
  config.slurm.shape = shape;
  return config;
}

inline ScriptInputs inputs(const slurm::Directives& options = {}) {
  return {
      .item = {.id = 7, .options = options},
      .attempt = {
          .item_id = 7, .number = 2, .token = "margay-x-7-a2", .directory = "/state/jobs/7/a2"}};
}

inline slurm::Directives asks(const Config& config, const ScriptInputs& given = inputs()) {
  return slurm::parse_directives(render_job(config, given).text, "rendered");
}

}  // namespace scheduler
