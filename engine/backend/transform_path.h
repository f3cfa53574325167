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

struct TransformPath {
  std::string fft;  // "fused" or "fftw" on the processor; "cufft" or "fused" on a CUDA device
  Precision precision = Precision::kFp32;
};

// `backend`: "cpu", "cuda" or, before one is chosen, "auto". `fft` ("auto", "fused", "fftw",
// "cufft") and `precision` are the values of the options. On the processor "auto" is "fused"; on a
// device in fp16, and with `fused_by_itself`, where the search fits the fused path, in single
// precision, too. Throws UsageError where one option contradicts another.
TransformPath choose_transforms(const std::string& backend, const std::string& fft,
                                const std::string& precision, bool fused_by_itself = false);

}  // namespace engine
