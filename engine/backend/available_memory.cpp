#include "engine/backend/available_memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace engine {
namespace {

namespace fs = std::filesystem;

// The names that the two versions of control groups have for the same things.
struct Names {
  const char* limit;
  const char* used;
  const char* active_files;  // in memory.stat
  const char* inactive_files;
};
constexpr Names kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file",
                             "total_inactive_file"};
constexpr Names kVersion2 = {"memory.max", "memory.current", "active_file", "inactive_file"};

// Nothing where the file is missing or holds "max".
std::optional<uint64_t> number_in(const fs::path& path) {
  std::ifstream in(path);
  uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

// File pages are charged to the group but given back when memory is short, so they count as free.
uint64_t file_pages(const fs::path& group, const Names& names) {
  std::ifstream in(group / "memory.stat");
  uint64_t pages = 0;
  std::string name;
  for (uint64_t value = 0; in >> name >> value;) {
    if (name == names.active_files || name == names.inactive_files) pages += value;
  }
  return pages;
}

std::optional<uint64_t> left_in(const fs::path& group, const Names& names) {
  const auto limit = number_in(group / names.limit);
  const auto used = number_in(group / names.used);
  // Version 1 writes the largest number of pages for "no limit".
  constexpr uint64_t kNoLimit = uint64_t{1} << 62;
  if (!limit || !used || *limit >= kNoLimit) return std::nullopt;
  const uint64_t held = *used - std::min(*used, file_pages(group, names));
  return *limit > held ? *limit - held : 1;
}

// The least that the group and all groups around it leave.
std::optional<uint64_t> least_left(const fs::path& root, const std::string& group,
                                   const Names& names) {
  std::optional<uint64_t> least;
  for (fs::path path = fs::path(group).relative_path();; path = path.parent_path()) {
    const auto left = left_in(root / path, names);
    if (left) least = std::min(least.value_or(*left), *left);
    if (path.empty()) return least;
  }
}

uint64_t system_memory_available() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && in >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

uint64_t group_memory_left(const std::string& membership, const std::string& root) {
  std::istringstream lines(membership);
  std::optional<uint64_t> least;
  // hierarchy:controllers:/path, the controllers empty in version 2.
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string group = line.substr(second + 1);
    std::optional<uint64_t> left;
    if (controllers == ",,") left = least_left(root, group, kVersion2);
    if (controllers.find(",memory,") != std::string::npos) {
      left = least_left(fs::path(root) / "memory", group, kVersion1);
    }
    if (left) least = std::min(least.value_or(*left), *left);
  }
  return least.value_or(0);
}

uint64_t available_memory() {
  std::ifstream in("/proc/self/cgroup");
  const std::string membership{std::istreambuf_iterator<char>(in), {}};
  const uint64_t system = system_memory_available();
  const uint64_t group = group_memory_left(membership, "/sys/fs/cgroup");
  if (system == 0 || group == 0) return std::max(system, group);
  return std::min(system, group);
}

}  // namespace engine
