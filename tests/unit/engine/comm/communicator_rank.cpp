// One rank of a test of communicators: a process to be killed or stopped.
// usage: communicator_rank FOLDER RANK SIZE TIMEOUT_MS once|on
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "tests/unit/engine/comm/communicator_cases.h"

namespace {

// 0: right; 1: wrong; 3: another rank was lost.
int run(const std::string& folder, const engine::comm::GroupConfig& place, bool once) {
  tests::FolderStore store(folder);
  try {
    const auto communicator = engine::comm::make_gloo(place, store);
    if (once) {
      const std::string fault = tests::fault_of_all_collectives(*communicator);
      std::cerr << fault;
      return fault.empty() ? 0 : 1;
    }
    for (;;) {
      const std::string fault = tests::fault_of_collectives(*communicator, 30'011);
      if (!fault.empty()) {
        std::cerr << fault;
        return 1;
      }
      std::ofstream(folder + "/round-" + std::to_string(place.rank));
    }
  } catch (const engine::CommunicatorLost& lost) {
    std::cerr << lost.what();
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const engine::comm::GroupConfig place{.rank = std::atoi(argv[2]),
                                        .size = std::atoi(argv[3]),
                                        .name = "test",
                                        .addresses = {"127.0.0.1"},
                                        .timeout = std::chrono::milliseconds(std::atoi(argv[4]))};
  return run(argv[1], place, std::string(argv[5]) == "once");
}
