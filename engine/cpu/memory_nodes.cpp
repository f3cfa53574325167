#include "engine/cpu/memory_nodes.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <numeric>
#include <system_error>

namespace engine::cpu {
namespace {

namespace fs = std::filesystem;

Processors allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  Processors allowed;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return allowed;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) allowed.push_back(i);
  }
  return allowed;
}

bool run_on(const Processors& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int i : processors) CPU_SET(i, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

}  // namespace

int available_cores() { return std::max(1, static_cast<int>(allowed_processors().size())); }

Processors read_processor_list(const std::string& text) {
  Processors processors;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at < end && *at != '\n') {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return {};
    int last = first;
    if (read.ptr < end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc()) return {};
    }
    if (first < 0 || last < first || last >= CPU_SETSIZE) return {};
    for (int i = first; i <= last; ++i) processors.push_back(i);
    at = read.ptr;
    if (at < end && *at == ',') ++at;
  }
  return processors;
}

std::vector<Processors> memory_nodes(const fs::path& folder) {
  const Processors allowed = allowed_processors();
  std::vector<fs::path> lists;
  std::error_code no_such_folder;
  for (const auto& entry : fs::directory_iterator(folder, no_such_folder)) {
    if (entry.path().filename().string().starts_with("node")) {
      lists.push_back(entry.path() / "cpulist");
    }
  }
  std::sort(lists.begin(), lists.end());
  std::vector<Processors> nodes;
  for (const fs::path& list : lists) {
    std::string text;
    std::getline(std::ifstream(list), text);
    Processors here;
    std::ranges::set_intersection(read_processor_list(text), allowed, std::back_inserter(here));
    if (!here.empty()) nodes.push_back(std::move(here));
  }
  return nodes;
}

std::vector<size_t> nodes_of_threads(const std::vector<Processors>& nodes, int threads) {
  if (nodes.size() < 2) return {};
  const size_t all = std::accumulate(
      nodes.begin(), nodes.end(), size_t{0},
      [](size_t sum, const Processors& processors) { return sum + processors.size(); });
  std::vector<size_t> node_of;
  for (size_t node = 0; node < nodes.size(); ++node) {
    const size_t share = nodes[node].size() * static_cast<size_t>(threads);
    if (share % all != 0) return {};
    node_of.insert(node_of.end(), share / all, node);
  }
  return node_of;
}

OnProcessors::OnProcessors(const Processors& processors) {
  if (processors.empty()) return;
  Processors before = allowed_processors();
  if (run_on(processors)) before_ = std::move(before);
}

OnProcessors::~OnProcessors() {
  if (!before_.empty()) run_on(before_);
}

}  // namespace engine::cpu
