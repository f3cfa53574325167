// Which transforms correlate a search, and in which precision. Pure.
#pragma once

#include <string>

namespace engine {

enum class Precision {
  kFp32,
  kFp16,  // fp16 in memory and in the arithmetic of the transforms
};

// The name in options, manifests and checkpoints: "fp32", "fp16".
std::string precision_name(Precision precision);

// True: `--fft auto` takes the fused path in single precision, too, where the search fits it. To be
// set once the tests of that path (tests/gpu/cuda_fused_test.cu) have passed on a device; no other
// code has to change.
constexpr bool kFusedByItself = false;

struct TransformPath {
  std::string fft;  // "fused" or "fftw" on the processor; "cufft" or "fused" on a CUDA device
  Precision precision = Precision::kFp32;
};

// `backend`: "cpu", "cuda" or, before one is chosen, "auto". `fft` ("auto", "fused", "fftw",
// "cufft") and `precision` are the values of the options. On the processor "auto" is "fused"; on a
// device in fp16, and with `fused_by_itself` in single precision, too. Throws UsageError where one
// option contradicts another.
TransformPath choose_transforms(const std::string& backend, const std::string& fft,
                                const std::string& precision, bool fused_by_itself = false);

}  // namespace engine
