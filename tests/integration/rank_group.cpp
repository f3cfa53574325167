#include "tests/integration/rank_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/wait_until.h"

namespace tests {

namespace {

// Shared with no other rank group.
std::string fresh_run_id() {
  static std::atomic<int> groups = 0;
  return std::to_string(getpid()) + "." + std::to_string(++groups);
}

}  // namespace

RankGroup::RankGroup(const SmallSearch& search, const RankGroupSetup& setup) : search_(search) {
  search.write_config();
  std::filesystem::remove(search.file("out/progress.json"));
  const std::string place =
      setup.rendezvous.empty() ? "file:" + search.file("rendezvous") : setup.rendezvous;
  const std::string run_id = fresh_run_id();
  for (int k = 0; k < setup.ranks; ++k) {
    std::vector<std::string> command;
    if (!setup.wrappers.empty()) command = setup.wrappers[static_cast<size_t>(k)];
    command.insert(command.end(), {engine_program(), "match", "search.yaml", "--backend", "cpu",
                                   "--threads", "1", "--overwrite", "--rank", std::to_string(k),
                                   "--world-size", std::to_string(setup.ranks), "--rendezvous",
                                   place, "--run-id", run_id, "--rank-timeout", setup.timeout});
    command.insert(command.end(), setup.options.begin(), setup.options.end());
    ranks_.push_back(std::make_unique<Program>(command, search.folder()));
  }
}

bool RankGroup::works() const { return std::filesystem::exists(search_.file("out/progress.json")); }

std::vector<Finished> RankGroup::wait() {
  std::vector<Finished> all;
  for (size_t k = 0; k < ranks_.size(); ++k) {
    Program& rank = *ranks_[k];
    if (!becomes_true([&] { return !rank.running(); }, std::chrono::seconds(60))) {
      ADD_FAILURE() << "rank " << k << " hangs";
      rank.signal(SIGKILL);
    }
    all.push_back(rank.wait());
  }
  return all;
}

std::vector<std::string> map_pixels(const SmallSearch& search) {
  return map_pixels_in(search.file("out"));
}

std::vector<std::string> map_pixels_in(const std::string& folder) {
  constexpr size_t kMrcHeader = 1024;  // holds a label with a time
  std::vector<std::string> maps;
  for (const char* name : {"mip", "scaled_mip", "mean", "sd", "psi", "theta", "phi", "defocus"}) {
    const std::string file = text_of(folder + "/" + name + ".mrc");
    maps.push_back(file.size() > kMrcHeader ? file.substr(kMrcHeader) : "");
  }
  return maps;
}

int repetitions(int here, int in_the_long_suite) {
  const char* wanted = std::getenv("MARGAY_LONG");
  if (wanted != nullptr && std::string(wanted) == "1") return in_the_long_suite;
#ifdef __SANITIZE_THREAD__
  return std::min(here, 2);  // it is slow, and sees in one run what it sees in many
#else
  return here;
#endif
}

}  // namespace tests
