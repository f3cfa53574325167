// Turns base's file errors into the engine's, which have an exit code.
#pragma once

#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "engine/error.h"

namespace engine {

// Returns what `action` returns, and turns a base::FileError into an InputError of the same
// message.
template <typename Action>
decltype(auto) with_input_errors(const Action& action) {
  try {
    return action();
  } catch (const base::FileError& error) {
    throw InputError(error.what());
  }
}

// Writes `text` through a temporary name, fsync and rename; makes missing folders. Throws
// InputError naming the file.
inline void write_text_atomically(const std::string& path, const std::string& text) {
  with_input_errors(
      [&] { base::write_file_atomically(path, text, {.folder = base::Folder::kMake}); });
}

}  // namespace engine
