// Asks the engine, in a process of its own, what the searches with a template consist of, and
// whether it takes the settings at all: what it would refuse in every job is refused once, when the
// template is registered.
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
  std::string settings_name{};  // the file that the user has them in, for messages
  std::string volume_path{};    // the volume's, for messages
  std::string volume_sha256{};
  int volume = -1;  // open for reading; the engine opens nothing by a path of the user's
};

struct CountAnswer {
  db::SearchCounts counts{};
  std::vector<std::string> notes{};  // the engine's notes and warnings
  std::string refused{};             // what the engine refuses, in its own words
  std::string unchecked{};           // why it has not answered, a clause
};

struct EngineCommand {
  std::string engine{};  // path of margay-engine
  std::string folder{};  // for a file that lasts as long as the question
  std::chrono::milliseconds timeout{60'000};
  uint64_t most_memory = uint64_t{4} << 30;  // resident bytes; the volume is read whole
};

// Of the site. Empties the folder, where a daemon that was killed may have left files; where it
// cannot be made, no question is answered.
EngineCommand engine_command(const Config& config);

// `look` is asked some times a second; false: nobody waits for the answer any more. Blocks for the
// timeout and two seconds at most, or as long as the volume's file system does.
CountAnswer count_search(const EngineCommand& command, const CountQuestion& question,
                         const std::function<bool()>& look);

}  // namespace scheduler
