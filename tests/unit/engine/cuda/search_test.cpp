// Whole searches on the CPU.
#include "tests/unit/engine/cuda/on_cpu.h"
//
#include <gmock/gmock.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/errors.h"
#include "tests/scratch_folder.h"
#include "tests/unit/engine/cuda/search_cases.h"

namespace tests {
namespace {

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
                                  .device = "device 0, of this test"});
    }
    SimtDevice::launch(name, arguments...);
  }

 private:
  int left_;
};

engine::Search small_search() {
  return search_of({.name = "", .height = 24, .width = 26, .n = 12});
}

cuda::MemoryPlan small_plan(const engine::Search& search) {
  cuda::MemoryPlan plan = cuda::plan_memory(shape_of(search.problem), 4);
  plan.transforms = 2;
  return plan;
}

// The message of a search whose device is lost in mid-search.
std::string words_of_loss(const engine::Search& search, const engine::RunOptions& options) {
  const std::atomic<bool> never = false;
  cuda::DeviceBackend<LostDevice, cuda::PlaneCorrelator> lost(std::make_unique<LostDevice>(30),
                                                              search.problem, small_plan(search));
  try {
    engine::run_search(search, lost, options, never);
  } catch (const engine::Error& e) {
    EXPECT_EQ(e.code(), engine::ExitCode::kDeviceFault);
    return e.what();
  }
  return "the search did without its device";
}

TEST(CudaSearch, ADeviceLostWithoutACheckpointPointsToNone) {
  const std::string words = words_of_loss(small_search(), {});
  EXPECT_NE(words.find("no checkpoint was written"), std::string::npos) << words;
  EXPECT_EQ(words.find("--resume"), std::string::npos) << words;
}

TEST(CudaSearch, ADeviceLostInMidSearchLeavesACheckpointToGoOnFrom) {
  const ScratchFolder folder;
  const engine::Search search = small_search();
  const cuda::MemoryPlan plan = small_plan(search);
  const std::atomic<bool> never = false;
  engine::RunOptions options{.checkpoint = folder / "c",
                             .checkpoint_every = std::chrono::milliseconds(0)};
  const std::string words = words_of_loss(search, options);
  EXPECT_NE(words.find("Resume from the last checkpoint with --resume '" + (folder / "c")),
            std::string::npos)
      << words;
  options.resume = options.checkpoint;
  cuda::DeviceBackend<SimtDevice, cuda::PlaneCorrelator> other(std::make_unique<SimtDevice>(),
                                                               search.problem, plan);
  const engine::RunResult resumed = engine::run_search(search, other, options, never);
  EXPECT_GT(resumed.resumed_units, 0);
  cuda::DeviceBackend<SimtDevice, cuda::PlaneCorrelator> whole(std::make_unique<SimtDevice>(),
                                                               search.problem, plan);
  EXPECT_TRUE(same_bits(resumed.accumulators, run_on(whole, search)));
}

// Counts how much work is on its way when something is waited for.
class BusyDevice : public SimtDevice {
 public:
  explicit BusyDevice(std::vector<int>& on_their_way) : on_their_way_(on_their_way) {}

  template <typename T>
  class Later {
   public:
    explicit Later(BusyDevice& device) : device_(device), value_(device) {}
    T get() const {
      device_.on_their_way_.push_back(device_.launches_ - launches_before_);
      return value_.get();
    }

   private:
    friend class BusyDevice;
    BusyDevice& device_;
    SimtDevice::Later<T> value_;
    int launches_before_ = 0;
  };
  template <typename T>
  void fetch(const Buffer<T>& from, Later<T>& to) {
    SimtDevice::fetch(from, to.value_);
    to.launches_before_ = launches_;
  }
  template <typename T>
  void download(const Buffer<T>& from, T* to, size_t count) {
    on_their_way_.push_back(0);
    SimtDevice::download(from, to, count);
  }
  template <typename... Arguments>
  void launch(const char* name, Arguments... arguments) {
    ++launches_;
    SimtDevice::launch(name, arguments...);
  }

 private:
  std::vector<int>& on_their_way_;
  int launches_ = 0;
};

TEST(CudaSearch, KeepsTheDeviceAtWorkBetweenBatches) {
  const engine::Search search = small_search();
  std::vector<int> on_their_way;
  cuda::DeviceBackend<BusyDevice, cuda::PlaneCorrelator> backend(
      std::make_unique<BusyDevice>(on_their_way), search.problem, small_plan(search));
  for (size_t batch = 0; batch < 4; ++batch) {
    backend.correlate(std::span<const engine::Unit>(search.space.units).subspan(4 * batch, 4));
  }
  EXPECT_EQ(on_their_way.size(), 3u);
  EXPECT_THAT(on_their_way, testing::Each(testing::Ge(4)));
}

}  // namespace
}  // namespace tests
