#include "slurm/node_states.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/words.h"

namespace slurm {
namespace {

struct NodeWord {
  std::string_view word;
  NodeUse use;
};

// What a node is for that has this word, whatever others it has: the first that it has counts.
constexpr NodeWord kNodeWords[] = {
    {"DOWN", NodeUse::kDown},
    {"ERROR", NodeUse::kDown},
    {"FAIL", NodeUse::kDown},
    {"FAILING", NodeUse::kDown},
    {"FUTURE", NodeUse::kDown},
    {"DYNAMIC_FUTURE", NodeUse::kDown},
    {"UNKNOWN", NodeUse::kDown},
    {"INVALID", NodeUse::kDown},
    {"INVALID_REG", NodeUse::kDown},
    {"NOT_RESPONDING", NodeUse::kDown},
    {"NO_RESPOND", NodeUse::kDown},
    {"REBOOT_ISSUED", NodeUse::kDown},
    {"DRAIN", NodeUse::kDrained},
    {"DRAINING", NodeUse::kDrained},
    {"DRAINED", NodeUse::kDrained},
    {"POWER_DRAIN", NodeUse::kDrained},
    {"RESERVED", NodeUse::kReserved},
    {"MAINT", NodeUse::kReserved},
    {"MAINTENANCE", NodeUse::kReserved},
    // A node that saves power is started when a job needs it.
    {"IDLE", NodeUse::kUsable},
    {"MIXED", NodeUse::kUsable},
    {"ALLOCATED", NodeUse::kUsable},
    {"COMPLETING", NodeUse::kUsable},
    {"PLANNED", NodeUse::kUsable},
};

}  // namespace

NodeUse use_of_node(const std::set<std::string>& words) {
  const auto* found =
      std::find_if(std::begin(kNodeWords), std::end(kNodeWords),
                   [&](const NodeWord& known) { return words.contains(std::string(known.word)); });
  return found == std::end(kNodeWords) ? NodeUse::kDown : found->use;
}

std::string to_string(NodeUse use) {
  constexpr base::Words<NodeUse, 4> kNames = {{{NodeUse::kUsable, "usable"},
                                               {NodeUse::kDown, "down"},
                                               {NodeUse::kDrained, "drained"},
                                               {NodeUse::kReserved, "reserved"}}};
  return base::word_of(kNames, use);
}

}  // namespace slurm
