#include "base/file_ending.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(WrongEnding, IsThatOfAnotherKind) {
  EXPECT_EQ(wrong_ending("a/all.PNG", "STAR", {".star"}),
            "'a/all.PNG' would be no .png file: it is written as STAR; end its name with .star");
  EXPECT_EQ(wrong_ending("map.mrc.gz", "MRC", {".mrc", ".mrcs"}),
            "'map.mrc.gz' would be no .gz file: it is written as MRC; end its name with .mrc");
}

TEST(WrongEnding, IsNoneOfItsOwnOrOfAnUnknownKind) {
  for (const char* path : {"map.mrc", "map.MRC", "maps.mrcs", "map", "map.txt", "a.png/map", ""}) {
    EXPECT_EQ(wrong_ending(path, "MRC", {".mrc", ".mrcs"}), "") << path;
  }
}

}  // namespace
}  // namespace base
