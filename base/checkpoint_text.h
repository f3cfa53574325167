// The words by which the engine names a checkpoint that it refuses to resume from. margayd looks
// for them in the job's log, to see that the checkpoint is to blame and not the input.
#pragma once

#include <string>

namespace base {

inline std::string checkpoint_text(const std::string& path) { return "checkpoint '" + path + "'"; }

}  // namespace base
