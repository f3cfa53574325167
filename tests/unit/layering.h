// Who may include whom, and where third-party headers stay: the rules as a function on text.
#pragma once

#include <string>
#include <vector>

namespace tests {

// What is wrong with the #include lines of the file `path` (relative to the root), one sentence
// each.
std::vector<std::string> layering_faults(const std::string& path, const std::string& text);

}  // namespace tests
