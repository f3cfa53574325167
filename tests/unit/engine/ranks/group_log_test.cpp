#include "engine/ranks/group_log.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(GroupLog, BeginsWithTheWorldSizeAndWithEachRanksHostAndDevice) {
  EXPECT_EQ(start_line({{.rank = 0, .host = "n01", .identity = "GPU-1f"},
                        {.rank = 1, .host = "n01", .identity = "GPU-2e"},
                        {.rank = 2, .host = "n02", .identity = ""}}),
            "START: world size 3 on 2 hosts: rank 0 on n01 (GPU-1f), rank 1 on n01 (GPU-2e), rank "
            "2 on n02");
  EXPECT_EQ(start_line({{.rank = 0, .host = "a", .identity = ""},
                        {.rank = 1, .host = "a", .identity = ""}}),
            "START: world size 2 on 1 host: rank 0 on a, rank 1 on a");
}

TEST(GroupLog, EndsWithTheOutcomeAndTheTime) {
  EXPECT_EQ(end_line("done", 12.34, 3), "END: done after 12.3 s with world size 3");
}

}  // namespace
}  // namespace engine
