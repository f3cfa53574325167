#include "base/descriptor.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace base {

void Descriptor::reset(int number) {
  const int error = errno;
  if (number_ >= 0) ::close(number_);
  errno = error;
  number_ = number;
}

int Descriptor::close() { return ::close(release()); }

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

std::optional<std::string> read_all(int descriptor, size_t most) {
  std::string text;
  std::array<char, 65536> block;
  while (text.size() < most) {
    const ssize_t count =
        ::read(descriptor, block.data(), std::min(block.size(), most - text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(block.data(), static_cast<size_t>(count));
  }
  return text;
}

}  // namespace base
