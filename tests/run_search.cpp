#include "tests/run_search.h"

#include <atomic>

#include "engine/cpu/cpu_backend.h"
#include "engine/mrc.h"
#include "engine/search.h"
#include "engine/statistics.h"

namespace tests {

engine::Maps search(const engine::SearchConfig& config, const std::string& folder) {
  const engine::Image micrograph =
      engine::to_image(engine::read_mrc(folder + "/" + config.micrograph_path));
  const engine::Volume volume =
      engine::to_volume(engine::read_mrc(folder + "/" + config.template_volume_path));
  const engine::Search prepared = engine::prepare_search(config, micrograph, volume);
  const auto backend = engine::cpu::make_cpu_backend(prepared.problem, {});
  const std::atomic<bool> stop = false;
  const engine::RunResult result = engine::run_search(prepared, *backend, {}, stop);
  return engine::finalise(result.accumulators, prepared.space.list.orientations,
                          prepared.space.planes);
}

engine::Maps search_reference_case(const std::string& name, const std::string& folder) {
  return search(engine::read_search_config(folder + "/leopard-em/" + name + "/config.yaml"),
                folder);
}

}  // namespace tests
