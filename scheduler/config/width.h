// The width of a job: how many nodes it takes, and how many GPUs on each; 0 GPUs for a job on
// processors alone. In the model of a search's time the processors of one rank then count as one
// GPU.
#pragma once

#include <compare>
#include <string>
#include <vector>

namespace scheduler {

struct Width {
  int nodes = 1;
  int gpus_per_node = 1;

  int gpus() const { return nodes * gpus_per_node; }
  bool operator==(const Width&) const = default;
};

// Orders by GPUs, then by nodes, so that what costs more comes later.
std::strong_ordering operator<=>(const Width& a, const Width& b);

// "CPU", "1 GPU", "1 node (4 GPUs)", "4 nodes (16 GPUs)"
std::string to_string(const Width& width);

// The widths that a job may get, narrowest first: one GPU, one node, then 2, 4, 8, ... whole nodes,
// at most `most_nodes`. Empty when there is no node or no GPU.
std::vector<Width> widths_of(int gpus_per_node, int most_nodes);

}  // namespace scheduler
