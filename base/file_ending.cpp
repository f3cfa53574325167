#include "base/file_ending.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/text.h"

namespace base {
namespace {

constexpr std::array<std::string_view, 13> kKnown = {".bz2", ".csv",  ".gz",  ".jpeg", ".jpg",
                                                     ".mrc", ".mrcs", ".pdf", ".png",  ".star",
                                                     ".svg", ".tif",  ".tiff"};

}  // namespace

std::string wrong_ending(const std::string& path, const std::string& kind,
                         const std::vector<std::string>& endings) {
  const std::string ending = lower(std::filesystem::path(path).extension().string());
  if (std::find(kKnown.begin(), kKnown.end(), ending) == kKnown.end()) return "";
  if (std::find(endings.begin(), endings.end(), ending) != endings.end()) return "";
  return "'" + path + "' would be no " + ending + " file: it is written as " + kind +
         "; end its name with " + endings.front();
}

}  // namespace base
