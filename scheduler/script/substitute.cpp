#include "scheduler/script/substitute.h"

#include <algorithm>
#include <kainjow/mustache.hpp>

#include "base/text.h"

namespace scheduler {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// Means itself to the shell, wherever a word may stand.
bool is_plain(const std::string& value) {
  const bool may_assign = value.find('=') != std::string::npos && value[0] != '-';
  return !value.empty() && !may_assign &&
         value.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "0123456789-+_.,:/@%=") == std::string::npos;
}

[[noreturn]] void fail(const std::string& name, const std::string& text, size_t position,
                       const std::string& what) {
  const auto line = std::count(text.begin(), text.begin() + static_cast<long>(position), '\n') + 1;
  throw ScriptError("script template '" + name + "', line " + std::to_string(line) + ": " + what);
}

void check_tag(const std::string& name, const std::string& text, size_t position,
               const std::string& tag, const std::map<std::string, std::string>& values) {
  if (!tag.empty() && tag[0] == '!') return;  // a comment
  const std::string key = base::trimmed(tag, " \t");
  if (!is_name(key)) {
    fail(name, text, position,
         "only {{name}} is allowed, which quotes for the shell, not '{{" + tag + "}}'");
  }
  if (values.count(key) != 0) return;
  std::string known;
  for (const auto& [word, value] : values) known += (known.empty() ? "" : ", ") + word;
  fail(name, text, position, "no value for '" + key + "'; there are " + known);
}

void check_tags(const std::string& text, const std::string& name,
                const std::map<std::string, std::string>& values) {
  size_t position = 0;
  while ((position = text.find("{{", position)) != std::string::npos) {
    const size_t end = text.find("}}", position);
    if (end == std::string::npos) fail(name, text, position, "'{{' without '}}'");
    check_tag(name, text, position, text.substr(position + 2, end - position - 2), values);
    position = end + 2;
  }
}

}  // namespace

std::string shell_quote(const std::string& value) {
  if (is_plain(value)) return value;
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string render_script(const std::string& text, const std::string& name,
                          const std::map<std::string, std::string>& values) {
  check_tags(text, name, values);
  kainjow::mustache::data data;
  for (const auto& [key, value] : values) {
    if (value.find('\0') != std::string::npos) {
      throw ScriptError("script template '" + name + "': value '" + key + "' has a zero byte");
    }
    data.set(key, value);
  }
  kainjow::mustache::mustache view(text);
  view.set_custom_escape(shell_quote);
  std::string script = view.render(data);
  if (!view.is_valid()) {
    throw ScriptError("script template '" + name + "': " + view.error_message());
  }
  return script;
}

}  // namespace scheduler
