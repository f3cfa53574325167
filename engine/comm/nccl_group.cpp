#include "engine/comm/nccl_group.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "engine/comm/nccl_memory.h"
#include "engine/comm/timeout.h"

namespace engine::comm {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kCloseTimeout{5};

class NcclGroup : public Communicator {
 public:
  NcclGroup(const GroupConfig& config, Store& store, const NcclFunctions& functions,
            std::unique_ptr<NcclStage> stage)
      : config_(config), nccl_(functions), stage_(std::move(stage)) {
    try {
      connect(store);
    } catch (...) {
      abort();
      throw;
    }
  }
  ~NcclGroup() override { close(); }

  std::string name() const override { return "nccl"; }
  int rank() const override { return config_.rank; }
  int size() const override { return config_.size; }

  void broadcast(std::span<std::byte> bytes) override {
    in_pieces(bytes, [&](std::span<std::byte> piece) {
      if (rank() == 0) stage_->put(piece.data(), piece.size());
      finish(nccl_.broadcast(stage_->memory(), stage_->memory(), piece.size(), ncclUint8, 0,
                             communicator_, stage_->stream()));
      if (rank() != 0) stage_->get(piece.data(), piece.size());
    });
  }

  void reduce_max(std::span<uint64_t> values) override { reduce(values, ncclUint64, ncclMax); }
  void reduce_sum(std::span<int64_t> values) override { reduce(values, ncclInt64, ncclSum); }

 private:
  void connect(Store& store) {
    const std::string entry = config_.name + "/nccl";
    ncclUniqueId id{};
    if (config_.rank == 0) {
      const ncclResult_t result = nccl_.get_unique_id(&id);
      if (result != ncclSuccess) lose(words_of(result));
      store.put(entry, std::vector<char>(id.internal, id.internal + sizeof id.internal));
    } else {
      const std::vector<char> bytes = store.get(entry);
      if (bytes.size() != sizeof id.internal) lose("what rank 0 says of itself is damaged");
      std::memcpy(id.internal, bytes.data(), bytes.size());
    }
    ncclConfig_t options = NCCL_CONFIG_INITIALIZER;
    options.blocking = 0;
    options.maxCTAs = kNcclChannels;
    const ncclResult_t result =
        nccl_.init_rank(&communicator_, config_.size, id, config_.rank, &options);
    wait(result, [] { return true; });
  }

  // Together with the others where they take part in it.
  void close() noexcept {
    if (communicator_ == nullptr) return;
    const auto deadline =
        steady_clock::now() + std::min<steady_clock::duration>(config_.timeout, kCloseTimeout);
    ncclResult_t result = nccl_.finalize(communicator_);
    while (result == ncclInProgress && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kLongestPause);
      if (nccl_.get_async_error(communicator_, &result) != ncclSuccess) break;
    }
    if (result == ncclSuccess) {
      nccl_.destroy(communicator_);
    } else {
      abort();
    }
  }

  template <typename T, typename Call>
  void in_pieces(std::span<T> values, const Call& call) {
    if (communicator_ == nullptr) lose("its connections were lost before");
    try {
      stage_->take_device();
      while (!values.empty()) {
        const size_t count = std::min(values.size(), stage_->size() / sizeof(T));
        call(values.first(count));
        values = values.subspan(count);
      }
    } catch (...) {
      // After a fault of this device the others would wait for it until their timeouts.
      abort();
      throw;
    }
  }

  template <typename T>
  void reduce(std::span<T> values, ncclDataType_t type, ncclRedOp_t operation) {
    in_pieces(values, [&](std::span<T> piece) {
      stage_->put(piece.data(), piece.size_bytes());
      finish(nccl_.reduce(stage_->memory(), stage_->memory(), piece.size(), type, operation, 0,
                          communicator_, stage_->stream()));
      if (rank() == 0) stage_->get(piece.data(), piece.size_bytes());
    });
  }

  // Until `done`, where `result` is what NCCL said at first. It is asked again and again: in a
  // call that blocks it would wait for ever for a rank that is gone.
  template <typename Done>
  void wait(ncclResult_t result, const Done& done) {
    Timeout timeout(config_.timeout, config_.is_cancelled);
    for (std::chrono::microseconds pause(20);; pause = std::min(2 * pause, kLongestPause)) {
      if (result == ncclSuccess && done()) return;
      if (result != ncclSuccess && result != ncclInProgress) lose(words_of(result));
      if (timeout.expired()) {
        lose("the other ranks let it wait for " + std::to_string(config_.timeout.count()) +
             " ms, or the group was cancelled");
      }
      std::this_thread::sleep_for(pause);
      if (nccl_.get_async_error(communicator_, &result) != ncclSuccess) {
        lose("NCCL does not say how it is");
      }
    }
  }

  void finish(ncclResult_t result) {
    wait(result, [&] { return stage_->idle(); });
  }

  std::string words_of(ncclResult_t result) const {
    std::string words = nccl_.error_string(result);
    const char* more = nccl_.last_error(communicator_);
    if (more != nullptr && *more != '\0') words += std::string(": ") + more;
    return words;
  }

  void abort() noexcept {
    if (communicator_ != nullptr) nccl_.abort(std::exchange(communicator_, nullptr));
  }

  [[noreturn]] void lose(const std::string& why) {
    abort();
    throw CommunicatorLost("the group " + config_.name + " is lost to rank " +
                           std::to_string(config_.rank) + " (NCCL): " + why);
  }

  static constexpr std::chrono::microseconds kLongestPause{1000};

  const GroupConfig config_;
  const NcclFunctions nccl_;
  const std::unique_ptr<NcclStage> stage_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

std::unique_ptr<Communicator> make_nccl_group(const GroupConfig& config, Store& store,
                                              const NcclFunctions& functions,
                                              std::unique_ptr<NcclStage> stage) {
  return std::make_unique<NcclGroup>(config, store, functions, std::move(stage));
}

}  // namespace engine::comm
