// Asks the engine, in a separate process, for the size of searches with a template and whether it
// accepts the settings, so that settings that every job would refuse are refused when the template
// is registered.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/config/config.h"

namespace scheduler {

struct CountQuestion {
  std::string search_yaml{};
  std::string settings_name{};  // name of the user's settings file, for messages
  std::string volume_path{};    // for messages
  std::string volume_sha256{};
  int volume = -1;  // open for reading; the engine opens nothing by a path of the user's
};

struct CountAnswer {
  db::SearchCounts counts{};
  std::vector<std::string> notes{};  // the engine's notes and warnings
  std::string refused{};             // what the engine refuses, in its own words; empty: nothing
  std::string unchecked{};           // why the engine has not answered, a clause; empty: it has
};

struct EngineCommand {
  std::string engine{};  // path of margay-engine
  std::string folder{};  // folder for a temporary file
  std::chrono::milliseconds timeout{60'000};
  uint64_t most_memory = uint64_t{4} << 30;  // resident bytes; the volume is read whole
};

// The site's engine. Empties the folder, where a killed daemon may have left files; if the folder
// cannot be made, no question is answered.
EngineCommand engine_command(const Config& config);

// `look` is called a few times a second and returns false when nobody waits for the answer any
// more. Blocks for the timeout and two seconds at most, or as long as the volume's file system
// does.
CountAnswer count_search(const EngineCommand& command, const CountQuestion& question,
                         const std::function<bool()>& look);

}  // namespace scheduler
