// The two sides of `--nproc` without a search:
//   local_ranks_program start COUNT TIMEOUT_MS COMMAND...     ends as run_local_ranks says
//   local_ranks_program survivors COUNT TIMEOUT_MS COMMAND... likewise; survivors continue
//   local_ranks_program quiet COUNT TIMEOUT_MS COMMAND...     likewise; rank 0 is quiet
//   local_ranks_program devices COUNT TIMEOUT_MS COMMAND...   likewise; rank k has device GPU-k
//   local_ranks_program listen CODE FOLDER ...                 a rank that ends with CODE when it
//   is
//                                                              asked to stop
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "engine/launch/local_ranks.h"
#include "engine/launch/stop_signals.h"

namespace {

void sleep_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

int listen(const std::vector<std::string>& words) {
  const std::string folder = words.at(2) + "/";
  const std::string& rank = words.at(4);
  std::ofstream(folder + "pid." + rank) << ::getpid() << "\n" << std::flush;
  if (words.at(0) == "late") {
    while (!std::filesystem::exists(folder + "go")) sleep_a_little();
  }
  const engine::StopSignals signals;
  std::ofstream(folder + "ready." + rank).flush();
  while (!signals.requested()) sleep_a_little();
  std::ofstream(folder + "stopped." + rank).flush();
  return std::stoi(words.at(1));
}

int start(const std::vector<std::string>& words) {
  const engine::StopSignals signals;
  std::vector<std::string> devices;
  for (int rank = 0; words.at(0) == "devices" && rank < std::stoi(words.at(1)); ++rank) {
    devices.push_back("GPU-" + std::to_string(rank));
  }
  const engine::LocalRanks ranks = {
      .command = {words.begin() + 3, words.end()},
      .count = std::stoi(words.at(1)),
      .devices = devices,
      .grace_period = std::chrono::milliseconds(std::stoi(words.at(2))),
      .continue_on_rank_loss = words.at(0) == "survivors",
      .quiet = words.at(0) == "quiet"};
  return engine::run_local_ranks(ranks, signals.requested());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    return words.at(0) == "listen" || words.at(0) == "late" ? listen(words) : start(words);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
