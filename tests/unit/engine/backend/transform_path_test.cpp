// Which transforms the options choose, and what contradicts what.
#include "engine/backend/transform_path.h"

#include <gmock/gmock.h>

#include "engine/error.h"
#include "engine/numerics/fft.h"
#include "tests/require.h"

namespace engine {
namespace {

using testing::HasSubstr;

std::string chosen(const std::string& backend, const std::string& fft, const std::string& precision,
                   bool fused_by_itself = false) {
  const TransformPath path = choose_transforms(backend, fft, precision, fused_by_itself);
  return path.fft + " " + precision_name(path.precision);
}

std::string usage_error(const std::string& backend, const std::string& fft,
                        const std::string& precision) {
  try {
    choose_transforms(backend, fft, precision);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(TransformPath, OfADeviceIsCufftUnlessTheFusedOneIsAskedForOrMayChooseItself) {
  EXPECT_EQ(chosen("cuda", "auto", "fp32"), "cufft fp32");
  EXPECT_EQ(chosen("cuda", "auto", "fp32", true), "fused fp32");
  EXPECT_EQ(chosen("cuda", "cufft", "fp32", true), "cufft fp32");
  EXPECT_EQ(chosen("cuda", "fused", "fp32"), "fused fp32");
  EXPECT_EQ(chosen("auto", "fused", "fp32"), "fused fp32");
}

TEST(TransformPath, OfHalvesIsTheFusedOne) {
  EXPECT_EQ(chosen("cuda", "auto", "fp16"), "fused fp16");
  EXPECT_EQ(chosen("cuda", "fused", "fp16"), "fused fp16");
  EXPECT_THAT(usage_error("cuda", "cufft", "fp16"),
              AllOf(HasSubstr("--precision fp16: --fft cufft"), HasSubstr("--fft fused")));
}

TEST(TransformPath, OfTheProcessorIsTheFusedOneUnlessFftwIsAskedFor) {
  EXPECT_EQ(chosen("cpu", "auto", "fp32"), "fused fp32");
  EXPECT_EQ(chosen("cpu", "fused", "fp32"), "fused fp32");
  if (fft_library().name != kFftw) {
    EXPECT_THAT(usage_error("cpu", "fftw", "fp32"),
                AllOf(HasSubstr("built without FFTW"), HasSubstr("omit --fft")));
    MARGAY_SKIP_FOR_WANT_OF("fftw", "this build has no FFTW");
  }
  EXPECT_EQ(chosen("cpu", "fftw", "fp32"), "fftw fp32");
  EXPECT_EQ(chosen("auto", "fftw", "fp32"), "fftw fp32");
}

TEST(TransformPath, OfADeviceIsNeverTheProcessors) {
  EXPECT_THAT(usage_error("cuda", "fftw", "fp32"),
              AllOf(HasSubstr("--fft fftw"), HasSubstr("omit --fft"), HasSubstr("--backend cpu")));
  EXPECT_THAT(usage_error("auto", "fftw", "fp16"), HasSubstr("--precision fp16"));
}

TEST(TransformPath, OfTheProcessorTakesNoOptionOfADevice) {
  EXPECT_THAT(
      usage_error("cpu", "cufft", "fp32"),
      AllOf(HasSubstr("--fft cufft"), HasSubstr("omit --fft"), HasSubstr("--backend cuda")));
  EXPECT_THAT(usage_error("cpu", "auto", "fp16"),
              AllOf(HasSubstr("--precision fp16"), HasSubstr("omit --precision"),
                    HasSubstr("--backend cuda")));
}

TEST(TransformPath, OfANameThatIsNoneIsRefused) {
  EXPECT_THAT(usage_error("cuda", "fftx", "fp32"), HasSubstr("--fft: 'fftx' is not one of"));
  EXPECT_THAT(usage_error("cpu", "auto", "fp8"),
              HasSubstr("--precision: 'fp8' is not one of fp32, fp16"));
}

}  // namespace
}  // namespace engine
