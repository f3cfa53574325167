// Faults of files that base/ reports, with the engine's exit code.
#pragma once

#include "base/error.h"
#include "engine/error.h"

namespace engine {

// Returns what `action` returns. A base::FileError becomes an InputError of the same message.
template <typename Action>
decltype(auto) with_input_errors(const Action& action) {
  try {
    return action();
  } catch (const base::FileError& error) {
    throw InputError(error.what());
  }
}

}  // namespace engine
