// The ranks of one small search as processes of their own, started by hand on this machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/small_search.h"
#include "tests/program.h"

namespace tests {

struct RankGroupSetup {
  int ranks = 3;
  std::vector<std::string> options{};  // of every rank
  // What stands before rank k's command, by rank; none: nothing.
  std::vector<std::vector<std::string>> wrappers{};
  std::string rendezvous{};  // empty: a shared file
  std::string timeout = "2s";
};

class RankGroup {
 public:
  // Writes search.yaml and starts them. They meet in the search's folder.
  RankGroup(const SmallSearch& search, const RankGroupSetup& setup);

  int size() const { return static_cast<int>(ranks_.size()); }
  Program& rank(int number) { return *ranks_[static_cast<size_t>(number)]; }
  // Whether rank 0 has begun to hand out work.
  bool works() const;
  // All of them, by rank. Waits for no rank for longer than a hang is worth: then it is killed, and
  // the test fails.
  std::vector<Finished> wait();

 private:
  const SmallSearch& search_;
  std::vector<std::unique_ptr<Program>> ranks_;
};

// The pixels of the eight maps in the search's results; empty where one is missing.
std::vector<std::string> map_pixels(const SmallSearch& search);
// The same, of a folder that holds them.
std::vector<std::string> map_pixels_in(const std::string& folder);

// As many as that in the long suite.
int repetitions(int here, int in_the_long_suite);

}  // namespace tests
