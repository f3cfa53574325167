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
  // The next `count` bytes, up to 1 GiB; returns how many there were. Fewer only at the end of the
  // file, whose check sums have been compared by then: who has read as much as is wanted asks for
  // one more byte. Members that were put one behind another are read as one. Throws
  // DamagedCompression where the file is cut short, damaged or goes on with something else.
  virtual size_t read(void* bytes, size_t count) = 0;
};

enum class Compression { kNone, kGzip, kBzip2 };

// By the first bytes of a file.
Compression compression_of(const std::string& begin);

// Null for kNone. Throws DamagedCompression when this build cannot read that kind.
std::unique_ptr<Decompressor> make_decompressor(Compression kind, Decompressor::RawRead raw);
// Null where the build has no bzip2.
std::unique_ptr<Decompressor> make_bzip2(const Decompressor::RawRead& raw);

// What every kind of compression says of itself.
[[noreturn]] void refuse_cut_compression(const char* kind);
[[noreturn]] void refuse_damaged_compression(const char* kind);
[[noreturn]] void refuse_rest_of_compression(const char* kind);

}  // namespace engine
