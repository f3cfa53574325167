// Files of a test, and what it was refused with.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include "engine/error.h"
#include "tests/scratch_folder.h"

namespace engine {

using tests::ScratchFolder;

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + path);
}

inline std::string read_file(const std::string& path) { return tests::text_of(path); }

// The message of the InputError that `action` throws; empty when it throws none.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace engine
