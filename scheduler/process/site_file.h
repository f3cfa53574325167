// Makes a site's initial configuration: packaging/margayd.yaml with the values of this site. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "slurm/cluster_facts.h"

namespace scheduler {

// YAML values by key, "slurm.shape".
using SiteValues = std::map<std::string, std::string>;

// `text` with these values in place of its own; a key that is commented out is uncommented, with
// its section. Throws std::logic_error for a key that the text does not have.
std::string with_values(const std::string& text, const SiteValues& values);

// A text as a YAML value.
std::string yaml_text(const std::string& text);

struct SiteProposal {
  SiteValues values{};
  // For the administrator: what was found, and what remains to be done.
  std::vector<std::string> notes{};
};

// Proposes values for a cluster with these partitions and nodes: the open partition with the most
// GPUs (among several the default one, then the first by name), else that with the most CPUs; each
// search gets one GPU's part of a node. Values are empty when there is no open partition with
// nodes.
SiteProposal propose_slurm(const slurm::SiteFacts& site);

}  // namespace scheduler
