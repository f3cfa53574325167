#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace engine {

// Of data that comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(const void* data, size_t size);
  // Lower-case hex of everything added; once.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Lower-case hex. Throws InputError naming a file that cannot be read.
std::string sha256_of_file(const std::string& path);
std::string sha256_of_bytes(const void* data, size_t size);

}  // namespace engine
