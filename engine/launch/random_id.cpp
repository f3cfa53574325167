#include "engine/launch/random_id.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace engine {

std::string random_id() {
  std::array<unsigned char, 16> bytes = {};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  std::string id;
  for (const unsigned char byte : bytes) {
    for (const int half : {byte >> 4, byte & 15}) id += "0123456789abcdef"[half];
  }
  return id;
}

}  // namespace engine
