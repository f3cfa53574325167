// SHA-256 by OpenSSL. All hashes are lower-case hexadecimal digits.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace base {

// Hashes data that comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(const void* data, size_t size);
  // Returns the hash of everything added. May be called once.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Throws FileError naming a file that cannot be read.
std::string sha256_of_file(const std::string& path);
// Hashes an open file from its beginning, wherever its offset is; `path` is for the message. Throws
// FileError.
std::string sha256_of_open_file(int descriptor, const std::string& path);
std::string sha256_of_bytes(const void* data, size_t size);
std::string sha256_of_text(std::string_view text);

}  // namespace base
