// Makes a script from a script template and values: a pure function. {{name}} becomes the value,
// quoted for the shell; nothing else of mustache is allowed, since it would let a value escape its
// quotes or a misspelt name vanish.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

namespace scheduler {

// The message names the template and the line.
class ScriptError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The value as one word for the shell, quoted only where necessary.
std::string shell_quote(const std::string& value);

// Throws ScriptError for a name without a value, for unquoted or other tags, and for values with a
// zero byte. `name` stands for the template in messages.
std::string render_script(const std::string& text, const std::string& name,
                          const std::map<std::string, std::string>& values);

}  // namespace scheduler
