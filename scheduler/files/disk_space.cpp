#include "scheduler/files/disk_space.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace scheduler {
namespace {

constexpr int64_t kMapBytes = int64_t{8} * 4;  // eight maps of float32
constexpr int64_t kCheckpointBytes = 24;       // key, index and sums of a pixel
constexpr int64_t kElse = int64_t{16} << 20;   // pictures, peaks, logs
constexpr int64_t kHeaderBytes = 1024;
constexpr int64_t kFewestBits = 4;  // of a pixel, in mode 101
constexpr int64_t kLongestSide = 1 << 17;

// Columns and rows come first in an MRC header, in either byte order. 0 for other and for truncated
// files: the engine reports those better, and a bad header must not stop other items.
int64_t pixels_of(int file) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) return 0;
  const int64_t bytes = facts.st_size;
  std::array<char, 8> header{};
  if (::pread(file, header.data(), header.size(), 0) != ssize_t{header.size()}) return 0;
  for (int order = 0; order < 2; ++order) {
    int32_t columns = 0;
    int32_t rows = 0;
    std::memcpy(&columns, header.data(), 4);
    std::memcpy(&rows, header.data() + 4, 4);
    const bool sides = columns > 0 && rows > 0 && columns < kLongestSide && rows < kLongestSide;
    const int64_t pixels = sides ? int64_t{columns} * rows : 0;
    if (sides && pixels * kFewestBits / 8 + kHeaderBytes <= bytes) return pixels;
    for (const size_t start : {size_t{0}, size_t{4}}) {
      std::swap(header[start], header[start + 3]);
      std::swap(header[start + 1], header[start + 2]);
    }
  }
  return 0;
}

}  // namespace

int64_t needed_bytes(int micrograph) {
  return pixels_of(micrograph) * (kMapBytes + kCheckpointBytes) + kElse;
}

int64_t free_bytes(const std::string& folder) {
  struct statvfs facts {};
  std::filesystem::path place = std::filesystem::absolute(folder);
  while (statvfs(place.c_str(), &facts) != 0) {
    const bool missing = errno == ENOENT && place.has_relative_path();
    if (!missing)
      throw std::system_error(errno, std::generic_category(), "room in '" + folder + "'");
    place = place.parent_path();
  }
  return static_cast<int64_t>(facts.f_bavail) * static_cast<int64_t>(facts.f_frsize);
}

}  // namespace scheduler
