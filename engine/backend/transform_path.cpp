#include "engine/backend/transform_path.h"

#include "engine/error.h"
#include "engine/numerics/fft.h"

namespace engine {
namespace {

Precision precision_of(const std::string& name) {
  for (const Precision precision : {Precision::kFp32, Precision::kFp16}) {
    if (precision_name(precision) == name) return precision;
  }
  throw UsageError("--precision: '" + name + "' is not one of fp32, fp16");
}

TransformPath processor_path(const std::string& fft, Precision precision) {
  if (precision != Precision::kFp32) {
    throw UsageError("--precision " + precision_name(precision) +
                     ": the processor searches in fp32 only; omit --precision, or search on a CUDA "
                     "device (--backend cuda)");
  }
  if (fft == "cufft") {
    throw UsageError(
        "--fft cufft: is for CUDA devices, and this search runs on the processor; "
        "omit --fft, or search on a CUDA device (--backend cuda)");
  }
  if (fft == "fftw" && fft_library().name != kFftw) {
    throw UsageError(
        "--fft fftw: this margay-engine was built without FFTW; omit --fft, or build it with "
        "-DMARGAY_FFTW=ON");
  }
  return {.fft = fft == "auto" ? "fused" : fft};
}

}  // namespace

std::string precision_name(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kFp16:
      return "fp16";
  }
  return "";
}

TransformPath choose_transforms(const std::string& backend, const std::string& fft,
                                const std::string& precision_text, bool fused_by_itself) {
  const Precision precision = precision_of(precision_text);
  if (fft != "auto" && fft != "fused" && fft != "fftw" && fft != "cufft") {
    throw UsageError("--fft: '" + fft + "' is not one of auto, fused, fftw, cufft");
  }
  if (backend == "cpu") return processor_path(fft, precision);
  if (fft == "fftw" && backend == "cuda") {
    throw UsageError(
        "--fft fftw: is for the processor, and this search runs on a CUDA device; "
        "omit --fft, or search on the processor (--backend cpu)");
  }
  if (fft == "fftw") return processor_path(fft, precision);
  const bool fp16 = precision != Precision::kFp32;
  if (fft == "cufft" && fp16) {
    throw UsageError("--precision " + precision_text +
                     ": --fft cufft is in fp32 only; use --fft fused, or omit --precision");
  }
  const bool fused = fft == "fused" || (fft == "auto" && (fp16 || fused_by_itself));
  return {.fft = fused ? "fused" : "cufft", .precision = precision};
}

}  // namespace engine
