// Decompresses gzip and bzip2 files while they are read.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace engine {

// Says what is wrong with a file; what() follows the file's name.
class DamagedCompression : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Decompressor {
 public:
  // Reads `count` bytes of the compressed file, fewer only at its end, and returns their number.
  using RawRead = std::function<size_t(void* bytes, size_t count)>;

  virtual ~Decompressor() = default;
  // Reads the next `count` bytes, up to 1 GiB, and returns their number, which is smaller only at
  // the end of the file. Only a read that reaches the end has compared the checksums, so a caller
  // that has all it wants asks for one more byte. Members that follow each other are read as one.
  // Throws DamagedCompression where the file is cut short, damaged, or followed by other bytes.
  virtual size_t read(void* bytes, size_t count) = 0;
};

enum class Compression { kNone, kGzip, kBzip2 };

// Recognises the compression by the first bytes of a file.
Compression compression_of(const std::string& begin);

// Returns null for kNone. Throws DamagedCompression when this build cannot read that kind.
std::unique_ptr<Decompressor> make_decompressor(Compression kind, Decompressor::RawRead raw);
// Returns null where this build has no bzip2.
std::unique_ptr<Decompressor> make_bzip2(const Decompressor::RawRead& raw);

// Throw DamagedCompression with the message for each fault; `kind` is the compression's name.
[[noreturn]] void refuse_cut_compression(const char* kind);
[[noreturn]] void refuse_damaged_compression(const char* kind);
[[noreturn]] void refuse_rest_of_compression(const char* kind);

}  // namespace engine
