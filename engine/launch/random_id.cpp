#include "engine/launch/random_id.h"

#include <sys/random.h>

#include "base/error.h"
#include "base/hex.h"

namespace engine {

std::string random_id() {
  std::string bytes(16, '\0');
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    base::throw_errno("getrandom");
  }
  return base::hex_of(bytes);
}

}  // namespace engine
