// A site's script template with what it includes: the unrendered files.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace scheduler {

// A template may have two kinds of directives, each on a line of its own from its first column:
//   #MARGAY include NAME   another file of the same folder, which includes nothing itself
//   #MARGAY setup          the site's lines from `slurm.setup`, as they are
struct ScriptTemplate {
  std::string folder;
  std::string name;
  std::string text{};
  std::string path() const { return folder + "/" + name; }
};

// Throws ScriptError naming the file.
ScriptTemplate read_template(const std::string& folder, const std::string& name);

// Renders each piece by render_script(), so that messages name the file and its line, and a value
// is never taken for a line of the template. Throws ScriptError.
std::string render_template(const ScriptTemplate& script,
                            const std::map<std::string, std::string>& values,
                            const std::vector<std::string>& setup = {});

}  // namespace scheduler
