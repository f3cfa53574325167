#include "scheduler/process/reload.h"

#include <utility>

#include "base/text.h"

namespace scheduler {

Reload reload_of(const Config& running, Config wanted) {
  Reload reload{.config = std::move(wanted)};
  const auto keep = [&reload](const char* key, const auto& old, auto& changed) {
    if (changed == old) return;
    reload.need_restart.emplace_back(key);
    changed = old;
  };
  Config& config = reload.config;
  keep("state", running.state, config.state);
  if (config.jobs() != running.jobs()) reload.need_restart.emplace_back("jobs");
  config.jobs_folder = running.jobs_folder;
  keep("socket", running.socket, config.socket);
  keep("socket_group", running.socket_group, config.socket_group);
  keep("cluster", running.cluster, config.cluster);
  keep("limits.body", running.limits.body, config.limits.body);
  keep("limits.requests_per_second", running.limits.requests_per_second,
       config.limits.requests_per_second);
  keep("limits.connections_per_user", running.limits.connections_per_user,
       config.limits.connections_per_user);
  keep("limits.connections", running.limits.connections, config.limits.connections);
  return reload;
}

void check_gpus(const LocalOptions& running, const LocalOptions& wanted) {
  if (running.found.empty() || !wanted.found.empty() || wanted.gpus.count == 0) return;
  throw GpusMissing(
      "this machine had " + base::counted(static_cast<int64_t>(running.found.size()), "GPU") +
      " and shows none now" + (wanted.found_note.empty() ? "" : " (" + wanted.found_note + ")") +
      "; to search on the processor set 'local.gpus: 0'");
}

}  // namespace scheduler
