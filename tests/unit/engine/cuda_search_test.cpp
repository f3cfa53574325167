// Whole searches on the CPU.
#include "tests/fakes/simt_device.h"
//
#include "engine/cuda/faults.h"
#include "tests/scratch_folder.h"
#include "tests/unit/engine/cuda_search_cases.h"

namespace tests {
namespace {

struct OnCpu {
  using Device = SimtDevice;
  static constexpr bool kReal = false;
  static std::string missing() { return ""; }
  static std::unique_ptr<Device> make() { return std::make_unique<Device>(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OnTheCpu, CudaSearch, OnCpu);

// Is lost after some launches.
class LostDevice : public SimtDevice {
 public:
  explicit LostDevice(int launches) : left_(launches) {}

  template <typename... Arguments>
  void launch(const char* name, Arguments... arguments) {
    if (--left_ < 0) {
      throw cuda::describe_fault({.fault = cuda::Fault::kDeviceLost,
                                  .code = 719,
                                  .words = "unspecified launch failure",
                                  .activity = std::string("kernel ") + name,
                                  .device = "device 0, of this test",
                                  .searching = true});
    }
    SimtDevice::launch(name, arguments...);
  }

 private:
  int left_;
};

TEST(CudaSearch, ADeviceLostInMidSearchLeavesACheckpointToGoOnFrom) {
  const ScratchFolder folder;
  const engine::Search search = search_of({.name = "", .height = 24, .width = 26, .n = 12});
  engine::cuda::MemoryPlan plan = cuda::plan_memory(shape_of(search.problem), 4);
  plan.transforms = 2;
  const std::atomic<bool> never = false;
  engine::RunOptions options{.checkpoint = folder / "c",
                             .checkpoint_every = std::chrono::milliseconds(0)};
  cuda::DeviceBackend<LostDevice, cuda::PlaneCorrelator> lost(std::make_unique<LostDevice>(30),
                                                              search.problem, plan);
  try {
    engine::run_search(search, lost, options, never);
    FAIL() << "the search did without its device";
  } catch (const engine::Error& e) {
    EXPECT_EQ(e.code(), engine::ExitCode::kDeviceFault);
    EXPECT_NE(std::string(e.what()).find("--resume"), std::string::npos) << e.what();
  }
  options.resume = options.checkpoint;
  cuda::DeviceBackend<SimtDevice, cuda::PlaneCorrelator> other(std::make_unique<SimtDevice>(),
                                                               search.problem, plan);
  const engine::RunResult resumed = engine::run_search(search, other, options, never);
  EXPECT_GT(resumed.resumed_units, 0);
  cuda::DeviceBackend<SimtDevice, cuda::PlaneCorrelator> whole(std::make_unique<SimtDevice>(),
                                                               search.problem, plan);
  EXPECT_TRUE(same_bits(resumed.accumulators, run_on(whole, search)));
}

}  // namespace
}  // namespace tests
