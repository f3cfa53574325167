#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/cuda/cuda_device.h"
#include "engine/cuda/error_codes.h"

namespace engine::cuda {
namespace {

#define MARGAY_SAME(name, number, theirs, fault) \
  static_assert(number == static_cast<int>(theirs), "another number in this toolkit");
MARGAY_RUNTIME_CODES(MARGAY_SAME)
MARGAY_TRANSFORM_CODES(MARGAY_SAME)
#undef MARGAY_SAME

int driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess) return 0;
  return version;
}

FaultReport report(const std::string& activity, const std::string& device) {
  const int driver = driver_version();
  return {.activity = activity,
          .device = device,
          .driver = driver > 0 ? version_text(driver) : "",
          .toolkit = version_text(CUDART_VERSION)};
}

// The layout of a cuFFT plan, for making it and for asking what it needs.
struct Layout {
  int rank = 1;
  long long lengths[2] = {};
  long long in_embed[2] = {}, in_stride = 1, in_distance = 0;
  long long out_embed[2] = {}, out_stride = 1, out_distance = 0;
  cufftType type = CUFFT_C2C;
  long long count = 0;
};

Layout layout_of(const Lines& l) {
  return {.rank = 1,
          .lengths = {l.length},
          .in_embed = {l.length},
          .in_stride = l.stride,
          .in_distance = l.distance,
          .out_embed = {l.length},
          .out_stride = l.stride,
          .out_distance = l.distance,
          .type = CUFFT_C2C,
          .count = l.count};
}

Layout layout_of(const Planes& p) {
  const long long n = p.n;
  return {.rank = 2,
          .lengths = {n, n},
          .in_embed = {n, n / 2 + 1},
          .in_distance = n * (n / 2 + 1),
          .out_embed = {n, n},
          .out_distance = n * n,
          .type = CUFFT_C2R,
          .count = p.count};
}

// Either cufftMakePlanMany64 or cufftGetSizeMany64.
template <typename Function>
size_t workspace_by(Function function, cufftHandle handle, Layout l, const std::string& activity,
                    const std::string& device) {
  size_t bytes = 0;
  check_transforms(function(handle, l.rank, l.lengths, l.in_embed, l.in_stride, l.in_distance,
                            l.out_embed, l.out_stride, l.out_distance, l.type, l.count, &bytes),
                   activity, device);
  return bytes;
}

uint64_t workspace_of_layout(const Layout& layout) {
  const TransformLibrary library;
  cufftHandle handle = 0;
  check_transforms(library.create(&handle), "asking cuFFT for its work space");
  size_t bytes = 0;
  try {
    bytes =
        workspace_by(library.get_size_many, handle, layout, "asking cuFFT for its work space", "");
  } catch (...) {
    library.destroy(handle);
    throw;
  }
  library.destroy(handle);
  return bytes;
}

std::string megabytes(size_t bytes) { return std::to_string((bytes + 999999) / 1000000) + " MB"; }

}  // namespace

void check_runtime(cudaError_t code, const std::string& activity, const std::string& device) {
  if (code == cudaSuccess) return;
  // The runtime remembers it, and the next launch would be blamed for it.
  static_cast<void>(cudaGetLastError());
  FaultReport r = report(activity, device);
  r.code = code;
  r.fault = fault_of_runtime(code, driver_version());
  r.words = cudaGetErrorString(code);
  throw describe_fault(r);
}

void check_transforms(cufftResult code, const std::string& activity, const std::string& device) {
  if (code == CUFFT_SUCCESS) return;
  FaultReport r = report(activity, device);
  r.code = code;
  r.fault = fault_of_transforms(code);
  r.words = "cuFFT's code";
  throw describe_fault(r);
}

std::string device_text(const DeviceFacts& facts) {
  return "device " + std::to_string(facts.number) + ", " + facts.name + " (" + facts.architecture +
         ")";
}

CudaDevice::CudaDevice(const DeviceFacts& facts, LaunchWatch* watch)
    : text_(device_text(facts)), multiprocessor_(facts.multiprocessor), watch_(watch) {
  check(cudaSetDevice(facts.number), "opening the device");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

CudaDevice::~CudaDevice() {
  stages_.clear();
  cudaFree(workspace_);
  cudaStreamDestroy(stream_);
}

void CudaDevice::check(cudaError_t code, const std::string& activity) const {
  check_runtime(code, activity, text_);
}

void CudaDevice::check(cufftResult code, const std::string& activity) const {
  check_transforms(code, activity, text_);
}

void* CudaDevice::take(const char* what, size_t bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, std::max<size_t>(bytes, 1)),
        "taking " + megabytes(bytes) + " for " + what);
  return data;
}

void CudaDevice::copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying after " + last_);
}

void CudaDevice::fill_with_zeros(void* data, size_t bytes) {
  check(cudaMemsetAsync(data, 0, bytes, stream_), "clearing an array after " + last_);
}

void CudaDevice::allow_shared(const char* name, const void* kernel, int threads, size_t bytes) {
  if (bytes == 0) return;
  constexpr size_t kWithoutAsking = 48 * 1024;
  if (bytes > kWithoutAsking) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          std::string("shared memory for kernel ") + name);
  }
  const std::string activity = std::string("the share of shared memory for kernel ") + name;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), activity);
  // Rather more blocks at once than a larger L1 cache.
  const BlockNeeds needs{.shared_bytes = bytes + attributes.sharedSizeBytes,
                         .threads = threads,
                         .registers = attributes.numRegs};
  if (const std::optional<int> percent = shared_percent(multiprocessor_, needs)) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, *percent),
          activity);
  }
}

void CudaDevice::launched(const char* name) {
  last_ = std::string("kernel ") + name;
  check(cudaGetLastError(), last_);
  if (watch_ != nullptr) watch_->after(name, stream_);
}

// A fault of a kernel is reported here, without the name of the kernel.
void CudaDevice::wait() {
  check(cudaStreamSynchronize(stream_),
        last_ + " or what ran before it; CUDA_LAUNCH_BLOCKING=1 shows which");
}

CudaDevice::Stage::Stage(CudaDevice& device, size_t bytes) : device_(device) {
  device.check(cudaMallocHost(&data_, bytes), "taking memory of the host");
  const cudaError_t code = cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming);
  if (code == cudaSuccess) return;
  cudaFreeHost(data_);
  device.check(code, "making an event");
}

CudaDevice::Stage::~Stage() {
  cudaEventSynchronize(copied_);
  cudaEventDestroy(copied_);
  cudaFreeHost(data_);
}

void* CudaDevice::Stage::wait() const {
  device_.check(cudaEventSynchronize(copied_),
                "kernels of an earlier batch; CUDA_LAUNCH_BLOCKING=1 shows which");
  return data_;
}

void CudaDevice::send(const void* from, size_t bytes, Stage& to) {
  copy(to.data_, from, bytes, cudaMemcpyDeviceToHost);
  check(cudaEventRecord(to.copied_, stream_), "copying after " + last_);
}

void CudaDevice::send_staged(const void* from, size_t bytes, void* to) {
  if (stages_.size() < kStages) stages_.emplace_back(*this, kStageBytes);
  const Stage& stage = stages_[uploads_++ % kStages];
  std::memcpy(stage.wait(), from, bytes);
  copy(to, stage.data_, bytes, cudaMemcpyHostToDevice);
  check(cudaEventRecord(stage.copied_, stream_), "copying after " + last_);
}

CudaDevice::Plan::Plan(CudaDevice& device, std::string name)
    : device_(device), name_(std::move(name)) {
  device.check(device.library_.create(&handle_), "planning " + name_);
}

CudaDevice::Plan::~Plan() {
  std::erase(device_.plans_, this);
  device_.library_.destroy(handle_);
}

void CudaDevice::add(Plan& plan, size_t workspace) {
  check(library_.set_stream(plan.handle_, stream_), "planning " + plan.name_);
  workspace_bytes_ = std::max(workspace_bytes_, workspace);
  plans_.push_back(&plan);
}

CudaDevice::LinePlan::LinePlan(CudaDevice& device, const Lines& lines)
    : Plan(device, "cuFFT's transform of " + std::to_string(lines.count) + " lines of " +
                       std::to_string(lines.length)) {
  device.check(device.library_.set_auto_allocation(handle_, 0), "planning " + name_);
  device.add(*this, workspace_by(device.library_.make_plan_many, handle_, layout_of(lines),
                                 "planning " + name_, device.text_));
}

CudaDevice::PlanePlan::PlanePlan(CudaDevice& device, const Planes& planes)
    : Plan(device, "cuFFT's back-transform of " + std::to_string(planes.count) + " squares of " +
                       std::to_string(planes.n)) {
  device.check(device.library_.set_auto_allocation(handle_, 0), "planning " + name_);
  device.add(*this, workspace_by(device.library_.make_plan_many, handle_, layout_of(planes),
                                 "planning " + name_, device.text_));
}

void CudaDevice::allocate_workspace() {
  check(cudaStreamSynchronize(stream_), "getting ready");
  cudaFree(workspace_);
  workspace_ = nullptr;
  workspace_ = take("the transforms' work space", workspace_bytes_);
  for (const Plan* plan : plans_) {
    check(library_.set_work_area(plan->handle_, workspace_), "planning " + plan->name_);
  }
}

template <typename Function, typename... Arguments>
void CudaDevice::transform(const Plan& plan, Function function, Arguments... arguments) {
  last_ = plan.name_;
  if (watch_ != nullptr) watch_->before(plan.name_.c_str(), stream_);
  check(function(plan.handle_, arguments...), last_);
  if (watch_ != nullptr) watch_->after(plan.name_.c_str(), stream_);
}

// cuFFT's interface knows no const.
void CudaDevice::forward(LinePlan& plan, const float2* in, float2* out) {
  transform(plan, library_.exec_c2c, const_cast<float2*>(in), out, CUFFT_FORWARD);
}

void CudaDevice::inverse(LinePlan& plan, const float2* in, float2* out) {
  transform(plan, library_.exec_c2c, const_cast<float2*>(in), out, CUFFT_INVERSE);
}

void CudaDevice::back_transform(PlanePlan& plan, float2* in, float* out) {
  transform(plan, library_.exec_c2r, in, out);
}

uint64_t workspace_of(const Lines& lines) { return workspace_of_layout(layout_of(lines)); }

uint64_t workspace_of(const Planes& planes) { return workspace_of_layout(layout_of(planes)); }

}  // namespace engine::cuda
