#include "base/ctf_doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace base {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(CtfDoubts, UsualValuesRaiseNone) {
  for (const double defocus : {0.0, 100.0, 12000.0, 200'000.0}) {
    EXPECT_TRUE(is_usual_defocus(defocus)) << defocus;
    EXPECT_EQ(defocus_doubt(defocus), "") << defocus;
  }
  for (const double phase : {0.0, 90.0, -30.0}) EXPECT_EQ(phase_shift_doubt(phase), "") << phase;
}

TEST(CtfDoubts, AskForTheUnitTheSignAndTheDigits) {
  EXPECT_EQ(defocus_doubt(1.02), "is it in um? 1 um is 10000 A");
  EXPECT_THAT(defocus_doubt(-9000), AllOf(HasSubstr("sign"), Not(HasSubstr("um"))));
  EXPECT_THAT(defocus_doubt(-1.02), AllOf(HasSubstr("sign"), HasSubstr("And is it in um?")));
  EXPECT_THAT(defocus_doubt(900'000), HasSubstr("a digit too many"));
  EXPECT_THAT(phase_shift_doubt(1.57), HasSubstr("radians"));
}

}  // namespace
}  // namespace base
