#include "base/huge_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace base {
namespace {

// The flags of the mapping in which `address` lies, as the kernel lists them.
std::string flags_at(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      is_here = begin <= wanted && wanted < end;
    } else if (is_here && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return "";
}

TEST(HugePages, AVectorResizedInThemIsZeros) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{1000}, (size_t{3} << 20) + 7}) {
    std::vector<int> values;
    resize_in_huge_pages(values, count);
    ASSERT_EQ(values.size(), count);
    EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](int v) { return v == 0; }));
  }
}

TEST(HugePages, AreAskedForWhereAnArrayIsLarge) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  }
  std::vector<int> values;
  resize_in_huge_pages(values, size_t{8} << 20);
  const std::string flags = flags_at(&values[values.size() / 2]);
  if (flags.empty()) GTEST_SKIP() << "this kernel does not list the flags of mappings";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
}

}  // namespace
}  // namespace base
