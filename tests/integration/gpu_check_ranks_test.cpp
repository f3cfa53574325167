// What the real tools/gpu-check does where there are several devices: ranks against one, and one of
// them killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/gpu_check_fixture.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

class GpuCheckOfTwo : public GpuCheck {
 protected:
  Finished check() const { return machine_.check({"--rest"}, {"FAKE_DEVICES=0 1"}); }
  // The search whose ranks are to be killed is another one, and has processes.
  static std::string killed(const std::string& after_one_is_gone) {
    return "case \"$*\" in rank*) while :; do sleep 0.05; done;; *killed/search.yaml*)\n"
           "$0 rank --rank 0 --x & first=$!\n$0 rank --rank 1 --x & second=$!\n"
           ": >${2%search.yaml}progress.json\n"
           "while kill -0 $second; do sleep 0.05; done\n" +
           after_one_is_gone + ";; esac";
  }
};

TEST_F(GpuCheckOfTwo, SeesThatRanksHaveTheMapsOfOneAndEndWhenOneIsKilled) {
  machine_.script("margay-engine", killed("kill -9 $first; wait $first; exit 70"));
  const Finished f = check();
  EXPECT_EQ(f.exit_code, 0) << f.output;
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "ranks against one")["passed"], 1);
  EXPECT_EQ(step_of(results, "ranks against one")["figures"]["ranks"], 2);
  EXPECT_EQ(step_of(results, "a killed rank ends the others")["passed"], 1)
      << reason_of(results, "a killed rank ends the others");
  EXPECT_THAT(machine_.calls(), IsSupersetOf({HasSubstr("--nproc 1"), HasSubstr("--nproc 2")}));
}

TEST_F(GpuCheckOfTwo, SeesThatRanksHaveOtherMapsAndThatOneIsLeftOver) {
  machine_.script("margay-engine",
                  killed("echo $first >$FAKE_MACHINE/left; exit 70") +
                      "\ncase \"$*\" in match*) out=${2%search.yaml}; for m in mip scaled_mip psi "
                      "theta phi defocus mean sd; do { head -c 1024 /dev/zero; value_of --nproc "
                      "\"$@\"; } >${out}$m.mrc; done; exit 0;; esac");
  EXPECT_EQ(check().exit_code, 1);
  const Json results = machine_.json();
  EXPECT_THAT(reason_of(results, "ranks against one"), HasSubstr("2 ranks have other maps"));
  EXPECT_THAT(reason_of(results, "a killed rank ends the others"), HasSubstr("1 ranks were left"));
  EXPECT_TRUE(becomes_true([&] { return !lives(text_of(machine_.file("left"))); }));
}

TEST_F(GpuCheckOfTwo, CountsTheDevicesThatAreVisible) {
  machine_.check({"--rest"}, {"FAKE_DEVICES=0 1", "CUDA_VISIBLE_DEVICES=1"});
  EXPECT_EQ(reason_of(machine_.json(), "ranks against one"), "one device is visible");
  machine_.remove("results");
  machine_.check({"--rest"}, {"FAKE_DEVICES=0 1", "CUDA_VISIBLE_DEVICES=-1,0"});
  EXPECT_EQ(reason_of(machine_.json(), "ranks against one"),
            "CUDA_VISIBLE_DEVICES leaves no device");
}

TEST_F(GpuCheckOfTwo, SeesThatTheOthersDoNotEnd) {
  machine_.script("margay-engine", killed("pass_time 61; sleep 600"));
  EXPECT_EQ(check().exit_code, 1);
  EXPECT_THAT(reason_of(machine_.json(), "a killed rank ends the others"),
              HasSubstr("had not ended 60 s after"));
}

TEST_F(GpuCheckOfTwo, WithoutNcclHasNoRanksToCompare) {
  machine_.script("ldconfig", "printf '\\tlibcufft.so.12 (libc6,x86-64) => /fake/x\\n'; exit 0");
  EXPECT_EQ(check().exit_code, 0);
  EXPECT_THAT(reason_of(machine_.json(), "ranks against one"), HasSubstr("NCCL was not found"));
}

}  // namespace
}  // namespace tests
