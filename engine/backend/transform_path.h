// Chooses the transforms that a search uses, and their precision. Pure functions.
#pragma once

#include <string>

namespace engine {

enum class Precision {
  kFp32,
  kFp16,  // fp16 in memory and in the arithmetic of the transforms
};

// Returns the name in options, manifests and checkpoints: "fp32" or "fp16".
std::string precision_name(Precision precision);

struct TransformPath {
  std::string fft;  // "fused" or "fftw" on the processor; "cufft" or "fused" on a CUDA device
  Precision precision = Precision::kFp32;
};

// `backend` is "cpu", "cuda" or, before one is chosen, "auto". `fft` ("auto", "fused", "fftw",
// "cufft") and `precision` are the values of the options. For `fft` "auto" the processor uses
// "fused"; a device uses it in fp16, and in fp32 where `fused_by_itself` says that the search fits
// the fused path, else "cufft". Throws UsageError for an unknown value or a contradiction.
TransformPath choose_transforms(const std::string& backend, const std::string& fft,
                                const std::string& precision, bool fused_by_itself = false);

}  // namespace engine
