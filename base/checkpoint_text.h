// How the engine names a checkpoint that it refuses to resume from, by which margayd recognises in
// the job's log that the checkpoint and not the input is to blame.
#pragma once

#include <string>

namespace base {

inline std::string checkpoint_text(const std::string& path) { return "checkpoint '" + path + "'"; }

}  // namespace base
