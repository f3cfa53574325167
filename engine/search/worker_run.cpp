#include "engine/search/worker_run.h"

#include <chrono>
#include <memory>
#include <utility>

#include "engine/ranks/exchange.h"
#include "engine/ranks/worker.h"
#include "engine/search/batches.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLastOrder{5};

class WorkerRun {
 public:
  WorkerRun(Worker& worker, const DeviceOptions& device, std::string identity,
            const std::atomic<bool>& stop)
      : worker_(worker), device_(device), identity_(std::move(identity)), stop_(stop) {}

  ExitCode run() {
    get_inputs();
    make_device();
    worker_.ready({backend_->batch(), description_, numerics_signature(*backend_)});
    for (;;) {
      forward_stop();
      const std::optional<Order> order = worker_.next(std::chrono::milliseconds(100));
      if (!order) continue;
      switch (order->kind) {
        case OrderKind::kWork:
          work(order->chunk);
          break;
        case OrderKind::kMerge:
          give_statistics(*order);
          break;
        case OrderKind::kMerged:
          // This rank is no part of the communicator that the others made since.
          if (!group_lost_.empty()) throw Error(ExitCode::kDeviceFault, group_lost_);
          forget_statistics(*backend_, worker_.watchdog(), problem_.valid_height(),
                            problem_.valid_width());
          correlations_ = 0;
          worker_.ask(0, 0.0);
          break;
        case OrderKind::kYield:
          break;
        case OrderKind::kEnd:
          return order->stopped ? ExitCode::kStopped : ExitCode::kDone;
      }
    }
  }

 private:
  void get_inputs() {
    try {
      share(worker_.start(device_.device, identity_), problem_, units_);
    } catch (const CommunicatorLost& e) {
      // Rank 0 knows which rank was lost: its order to end carries the name.
      worker_.next(kLastOrder);
      throw Error(ExitCode::kDeviceFault,
                  std::string("the inputs of the search did not arrive: ") + e.what());
    }
  }

  void make_device() {
    const auto busy = worker_.watchdog().busy(Activity::kStart);
    const ProblemShape shape{problem_.height, problem_.width, problem_.template_size,
                             problem_.planes(), static_cast<int64_t>(problem_.orientations.size())};
    // What the exchange of data takes of the device it has already.
    const DevicePlan plan = plan_device(shape, device_);
    const DeviceInfo info = describe_device(plan);
    description_ = info.backend + ", " + info.name;
    backend_ = make_backend(problem_, plan);
  }

  void forward_stop() {
    if (stop_ && !std::exchange(stop_forwarded_, true)) worker_.request_stop();
  }

  void work(const std::vector<UnitRange>& chunk) {
    const auto wants_more = [this] {
      forward_stop();
      return !worker_.should_yield();
    };
    const ChunkDone done = correlate_chunk(*backend_, units_, problem_.planes(), chunk,
                                           worker_.watchdog(), wants_more);
    correlations_ += done.correlations;
    worker_.ask(done.units, best_z_if_due());
  }

  // Looking at every pixel costs as much as a few correlations, so seldom.
  double best_z_if_due() {
    constexpr std::chrono::seconds kEvery{10};
    if (Clock::now() - looked_ < kEvery) return 0.0;
    looked_ = Clock::now();
    const auto busy = worker_.watchdog().busy(Activity::kDevice);
    return own_best_z(*backend_, correlations_, false);
  }

  void give_statistics(const Order& order) {
    Accumulators statistics = take_statistics(*backend_, worker_.watchdog());
    check_range(statistics, static_cast<int>(order.participants.size()), problem_.extreme_pixel);
    group_lost_.clear();
    try {
      reduce(worker_.communicator_for(order), statistics);
    } catch (const CommunicatorLost& e) {
      group_lost_ = e.what();
      worker_.communicator_lost(e.what());
    }
  }

  Worker& worker_;
  const DeviceOptions& device_;
  const std::string identity_;
  const std::atomic<bool>& stop_;
  bool stop_forwarded_ = false;
  Problem problem_;
  std::vector<Unit> units_;
  std::string description_;
  std::unique_ptr<Backend> backend_;
  int64_t correlations_ = 0;  // since the last merge
  std::string group_lost_;    // why, since the last order to merge
  Clock::time_point looked_ = Clock::now();
};

}  // namespace

ExitCode run_worker(const RankGroupOptions& options, const DeviceOptions& device,
                    const std::atomic<bool>& stop) {
  // Whoever has joined answers: a device that does not must be met before.
  const std::string identity = identity_of(device);
  Worker worker(options);
  try {
    return WorkerRun(worker, device, identity, stop).run();
  } catch (const EndedByLeader&) {
    throw;
  } catch (const Error& e) {
    worker.fail(e);
    throw;
  } catch (const std::exception& e) {
    worker.fail(Error(ExitCode::kDeviceFault, e.what()));
    throw;
  }
}

}  // namespace engine
