// Files compressed by gzip or bzip2, decompressed as they are read.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace engine {

// What is wrong, to stand behind the file's name.
class DamagedCompression : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Decompressor {
 public:
  // Reads so many bytes of the compressed file; fewer only at its end.
  using RawRead = std::function<size_t(void* bytes, size_t count)>;

  virtual ~Decompressor() = default;
  // The number of bytes that there were. Throws DamagedCompression.
  virtual size_t read(void* bytes, size_t count) = 0;
};

enum class Compression { kNone, kGzip, kBzip2 };

// By the first bytes of a file.
Compression compression_of(const std::string& begin);

// Null for kNone. Throws DamagedCompression when this build cannot read that kind.
std::unique_ptr<Decompressor> make_decompressor(Compression kind, Decompressor::RawRead raw);
// Null where the build has no bzip2.
std::unique_ptr<Decompressor> make_bzip2(const Decompressor::RawRead& raw);

}  // namespace engine
