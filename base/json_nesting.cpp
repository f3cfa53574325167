#include "base/json_nesting.h"

#include <cstddef>

namespace base {

bool nests_deeper(std::string_view json, int levels) {
  int open = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++open > levels) return true;
    } else if (c == ']' || c == '}') {
      --open;
    }
  }
  return false;
}

}  // namespace base
