#include "tests/run_search.h"

#include <atomic>

#include "engine/config/config_reader.h"
#include "engine/io/mrc.h"
#include "engine/numerics/statistics.h"
#include "engine/search/device.h"
#include "engine/search/search.h"

namespace tests {

engine::Maps search(const engine::SearchConfig& config, const std::string& folder,
                    const engine::DeviceOptions& device) {
  const engine::Image micrograph =
      engine::to_image(engine::read_mrc(folder + "/" + config.micrograph_path));
  return search_image(config, micrograph, folder, device);
}

engine::Maps search_image(const engine::SearchConfig& config, const engine::Image& micrograph,
                          const std::string& folder, const engine::DeviceOptions& device) {
  const engine::Volume volume =
      engine::to_volume(engine::read_mrc(folder + "/" + config.template_volume_path));
  const engine::Search prepared = engine::prepare_search(config, micrograph, volume);
  const engine::DevicePlan plan = engine::plan_device(
      engine::ProblemShape{
          .height = micrograph.height,
          .width = micrograph.width,
          .template_size = volume.size,
          .planes = static_cast<int>(prepared.space.planes.size()),
          .orientations = static_cast<int64_t>(prepared.space.list.orientations.size())},
      device);
  const auto backend = engine::make_backend(prepared.problem, plan);
  const std::atomic<bool> stop = false;
  const engine::RunResult result = engine::run_search(prepared, *backend, {}, stop);
  return engine::finalise(result.accumulators, prepared.space.list.orientations,
                          prepared.space.planes);
}

engine::Maps search_reference_case(const std::string& name, const std::string& folder,
                                   const engine::DeviceOptions& device) {
  return search(engine::read_search_config(folder + "/leopard-em/" + name + "/config.yaml"), folder,
                device);
}

}  // namespace tests
