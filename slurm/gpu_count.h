// How many GPUs a list of Slurm's resources names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace slurm {

// The number of GPUs in a list in any of Slurm's notations: what a job asks for
// ("gres/gpu:a100:2,gres/nvme:1", "gres:gpu"), what it has ("cpu=4,gres/gpu=8,gres/gpu:a100=8",
// where "gres/gpu=" is the sum of the kinds beside it), what a node has
// ("gpu:a100:4(S:0-1),nvme:1") and has in use ("gpu:(null):2(IDX:0-1)"). nullopt when it names
// none; never more than a million.
std::optional<int> gpus_in(std::string_view list);

// `each` for each of so many nodes or tasks, of which there is at least one; never more than a
// million.
int times_gpus(int each, int64_t count);

// The GPUs in such a list by kind: {"a100": 4}; those without a kind are under "". A sum beside the
// kinds is not counted again.
std::map<std::string, int> gpu_kinds_in(std::string_view list);

}  // namespace slurm
