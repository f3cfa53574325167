// Implements make_bzip2 of compressed.h in a build without bzip2.
#include "engine/io/compressed.h"

namespace engine {

std::unique_ptr<Decompressor> make_bzip2(const Decompressor::RawRead&) { return nullptr; }

}  // namespace engine
