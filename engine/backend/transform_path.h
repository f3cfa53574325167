// Which transforms correlate a search, and in which precision. Pure.
#pragma once

#include <string>

namespace engine {

enum class Precision {
  kFp32,
  kFp16Storage,  // what waits in the device's memory are halves; the arithmetic is single precision
  kFp16,         // the arithmetic of the transforms is on halves, too
};

// As options, manifests and checkpoints have it: "fp32", "fp16-storage", "fp16".
std::string precision_name(Precision precision);

// Whether `--fft auto` takes the fused path in single precision, too, where the search fits it. To
// be true once the tests of that path (tests/gpu/cuda_fused_test.cu) have passed on a device; no
// other code has to change.
constexpr bool kFusedByItself = false;

struct TransformPath {
  std::string fft;  // "fftw" on the processor; "cufft" or "fused" on a CUDA device
  Precision precision = Precision::kFp32;
};

// `backend`: "cpu", "cuda" or, before one is chosen, "auto". `fft` ("auto", "cufft", "fused") and
// `precision` are what the options say; `fused_by_itself`: what "auto" is to be in single
// precision. Half precision is fused. Throws UsageError where one option contradicts another.
TransformPath choose_transforms(const std::string& backend, const std::string& fft,
                                const std::string& precision, bool fused_by_itself = false);

}  // namespace engine
