// Implements make_nccl() of engine/comm/factory.h: NCCL's collectives. The library is opened when
// it is needed, so that the program starts without it.
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "engine/comm/factory.h"
#include "engine/comm/nccl_memory.h"
#include "engine/comm/timeout.h"
#include "engine/cuda/check_runtime.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/shared_library.h"
#include "engine/error.h"

namespace engine::comm {
namespace {

using std::chrono::steady_clock;

constexpr size_t kStage = kNcclStage;
constexpr std::chrono::seconds kCloseTimeout{5};

cuda::LibrarySearch nccl_search() {
  return {.what = "NCCL",
          .names = {"libnccl.so.2"},
          .folders = {MARGAY_NCCL_FOLDER, "/usr/local/cuda/lib64", "/usr/local/cuda/lib",
                      "/usr/local/lib", "/usr/lib/x86_64-linux-gnu"},
          .remedy =
              "install NCCL (libnccl2), or name the folder that has it in LD_LIBRARY_PATH; to "
              "search with one device, start one rank"};
}

// The functions of NCCL that we use, by their types in its header.
struct NcclLibrary {
  NcclLibrary() {
    const cuda::SharedLibrary library(nccl_search());
    library.find("ncclGetUniqueId", get_unique_id);
    library.find("ncclCommInitRankConfig", init_rank);
    library.find("ncclCommGetAsyncError", get_async_error);
    library.find("ncclCommFinalize", finalize);
    library.find("ncclCommDestroy", destroy);
    library.find("ncclCommAbort", abort);
    library.find("ncclGetErrorString", error_string);
    library.find("ncclGetLastError", last_error);
    library.find("ncclBroadcast", broadcast);
    library.find("ncclReduce", reduce);
  }

  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRankConfig) init_rank;
  decltype(&ncclCommGetAsyncError) get_async_error;
  decltype(&ncclCommFinalize) finalize;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclReduce) reduce;
};

// What a device has for a communicator.
class Stage {
 public:
  explicit Stage(int device) : device_(device) {
    cuda::check_runtime(cudaSetDevice(device), "opening the device", words());
    cuda::check_runtime(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                        "making a stream", words());
    const cudaError_t code = cudaMalloc(&memory_, kStage);
    if (code != cudaSuccess) cudaStreamDestroy(stream_);
    cuda::check_runtime(code, "taking memory to exchange data with other ranks", words());
  }

  ~Stage() {
    cudaFree(memory_);
    cudaStreamDestroy(stream_);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Of the thread that calls.
  void take_device() const {
    cuda::check_runtime(cudaSetDevice(device_), "opening the device", words());
  }
  void put(const void* from, size_t bytes) { copy(memory_, from, bytes, cudaMemcpyHostToDevice); }
  void get(void* to, size_t bytes) { copy(to, memory_, bytes, cudaMemcpyDeviceToHost); }
  // Whether all is done that was begun.
  bool idle() const {
    const cudaError_t code = cudaStreamQuery(stream_);
    if (code == cudaErrorNotReady) return false;
    cuda::check_runtime(code, "exchanging data with other ranks", words());
    return true;
  }

  void* memory() const { return memory_; }
  cudaStream_t stream() const { return stream_; }

 private:
  std::string words() const { return "device " + std::to_string(device_); }
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    cuda::check_runtime(cudaMemcpyAsync(to, from, bytes, kind, stream_),
                        "copying what ranks exchange", words());
    cuda::check_runtime(cudaStreamSynchronize(stream_), "copying what ranks exchange", words());
  }

  const int device_;
  cudaStream_t stream_ = nullptr;
  void* memory_ = nullptr;
};

class Nccl : public Communicator {
 public:
  Nccl(const GroupConfig& config, Store& store, int device) : config_(config), stage_(device) {
    connect(store);
  }
  ~Nccl() override { close(); }

  std::string name() const override { return "nccl"; }
  int rank() const override { return config_.rank; }
  int size() const override { return config_.size; }

  void broadcast(std::span<std::byte> bytes) override {
    in_pieces(bytes, [&](std::span<std::byte> piece) {
      if (rank() == 0) stage_.put(piece.data(), piece.size());
      finish(library_.broadcast(stage_.memory(), stage_.memory(), piece.size(), ncclUint8, 0,
                                communicator_, stage_.stream()));
      if (rank() != 0) stage_.get(piece.data(), piece.size());
    });
  }

  void reduce_max(std::span<uint64_t> values) override { reduce(values, ncclUint64, ncclMax); }
  void reduce_sum(std::span<int64_t> values) override { reduce(values, ncclInt64, ncclSum); }

 private:
  void connect(Store& store) {
    const std::string entry = config_.name + "/nccl";
    ncclUniqueId id{};
    if (config_.rank == 0) {
      const ncclResult_t result = library_.get_unique_id(&id);
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
        library_.init_rank(&communicator_, config_.size, id, config_.rank, &options);
    wait(result, [] { return true; });
  }

  // Together with the others where they take part in it.
  void close() noexcept {
    if (communicator_ == nullptr) return;
    const auto deadline =
        steady_clock::now() + std::min<steady_clock::duration>(config_.timeout, kCloseTimeout);
    ncclResult_t result = library_.finalize(communicator_);
    while (result == ncclInProgress && steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kLongestPause);
      if (library_.get_async_error(communicator_, &result) != ncclSuccess) break;
    }
    if (result == ncclSuccess) {
      library_.destroy(communicator_);
    } else {
      abort();
    }
  }

  template <typename T, typename Call>
  void in_pieces(std::span<T> values, const Call& call) {
    if (communicator_ == nullptr) lose("its connections were lost before");
    try {
      stage_.take_device();
      while (!values.empty()) {
        const size_t count = std::min(values.size(), kStage / sizeof(T));
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
      stage_.put(piece.data(), piece.size_bytes());
      finish(library_.reduce(stage_.memory(), stage_.memory(), piece.size(), type, operation, 0,
                             communicator_, stage_.stream()));
      if (rank() == 0) stage_.get(piece.data(), piece.size_bytes());
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
      if (library_.get_async_error(communicator_, &result) != ncclSuccess) {
        lose("NCCL does not say how it is");
      }
    }
  }

  void finish(ncclResult_t result) {
    wait(result, [&] { return stage_.idle(); });
  }

  std::string words_of(ncclResult_t result) const {
    std::string words = library_.error_string(result);
    const char* more = library_.last_error(communicator_);
    if (more != nullptr && *more != '\0') words += std::string(": ") + more;
    return words;
  }

  void abort() noexcept {
    if (communicator_ != nullptr) library_.abort(std::exchange(communicator_, nullptr));
  }

  [[noreturn]] void lose(const std::string& why) {
    abort();
    throw CommunicatorLost("the group " + config_.name + " is lost to rank " +
                           std::to_string(config_.rank) + " (NCCL): " + why);
  }

  static constexpr std::chrono::microseconds kLongestPause{1000};

  const GroupConfig config_;
  const NcclLibrary library_;
  Stage stage_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

bool has_nccl() {
  try {
    const NcclLibrary library;
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::unique_ptr<Communicator> make_nccl(const GroupConfig& config, Store& store, int device) {
  cuda::require_device(device);
  return std::make_unique<Nccl>(config, store, device);
}

}  // namespace engine::comm
