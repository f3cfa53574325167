// The machine's memory nodes (NUMA) and the processors of each, on which threads stay near the
// memory that they use.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace engine::cpu {

// Numbers of processors, as Linux counts them.
using Processors = std::vector<int>;

// Returns the number of cores this process may run on, 1 or more.
int available_cores();

// Returns the processors of a list such as "0-3,8,10-11"; empty where it is none.
Processors read_processor_list(const std::string& text);

// Returns the processors of each memory node on which this process may run, without nodes that have
// none; empty where the system does not say.
std::vector<Processors> memory_nodes(
    const std::filesystem::path& folder = "/sys/devices/system/node");

// Returns for each of `threads` threads the index of its node, in proportion to their processors;
// empty where there is one node, or where the threads cannot be divided evenly: then several
// processes on the machine might all choose the same one.
std::vector<size_t> nodes_of_threads(const std::vector<Processors>& nodes, int threads);

// While it lives, the calling thread runs on these processors alone. Where the system refuses, or
// there are none, nothing changes.
class OnProcessors {
 public:
  explicit OnProcessors(const Processors& processors);
  ~OnProcessors();
  OnProcessors(const OnProcessors&) = delete;
  OnProcessors& operator=(const OnProcessors&) = delete;

 private:
  Processors before_;  // empty: nothing has changed
};

}  // namespace engine::cpu
