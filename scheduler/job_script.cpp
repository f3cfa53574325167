#include "scheduler/job_script.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "scheduler/attempt_folder.h"
#include "scheduler/files.h"
#include "scheduler/script.h"

namespace scheduler {

JobScript render_job(const Config& config, const ScriptInputs& inputs) {
  const std::string name = config.templates + "/local.sh";
  const auto text = read_file(name);
  if (!text) throw ScriptError("script template '" + name + "' does not exist");
  const db::Attempt& attempt = inputs.attempt;
  return {.text = render_script(
              *text, name,
              {{"attempt_folder", attempt.directory},
               {"item_folder", item_folder(config.jobs(), attempt.item_id)},
               {"attempt_number", std::to_string(attempt.number)},
               {"token", attempt.token},
               {"engine", config.engine},
               {"backend", "cpu"},
               {"threads", std::to_string(inputs.threads)},
               {"batch", inputs.batch},
               {"checkpoint_every", std::to_string(config.checkpoint_every.count()) + "ms"},
               {"resume", attempt.resume_from}})};
}

void check_script_templates(const Config& config) {
  const std::string script = config.templates + "/local.sh";
  if (access(script.c_str(), R_OK) != 0) {
    throw ConfigError("script template '" + script + "' cannot be read: " + std::strerror(errno) +
                      "; set 'templates' in the configuration");
  }
}

}  // namespace scheduler
