// Who may include whom: the rooms of the house and where third-party headers stay, as functions on
// text. Paths are relative to the root of the sources.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tests {

// What is wrong with the #include lines of the file `path`, one sentence each.
std::vector<std::string> layering_faults(const std::string& path, const std::string& text);

// The circles among `files` (path -> text): "a -> b -> a", each once, sorted. A header and the .cpp
// beside it count as one, so that a circle through their bodies is found, too.
std::vector<std::string> include_circles(const std::map<std::string, std::string>& files);

}  // namespace tests
