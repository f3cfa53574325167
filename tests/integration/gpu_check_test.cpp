// The real tools/gpu-check, on a machine whose programs are all fakes: in what order it goes, what
// it leaves when it is killed, and what it makes of programs that fail, hang, or are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tests/integration/fake_gpu_machine.h"
#include "tests/require.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using Json = nlohmann::json;
using Strings = FakeGpuMachine::Strings;

Strings names_of(const Json& results) {
  Strings names;
  for (const Json& step : results["steps"]) names.push_back(step["step"]);
  return names;
}

Json step_of(const Json& results, const std::string& name) {
  for (const Json& step : results["steps"]) {
    if (step["step"] == name) return step;
  }
  ADD_FAILURE() << "there is no step " << name;
  return {{"reason", ""}, {"passed", -1}, {"failed", -1}, {"skipped", -1}};
}

std::string reason_of(const Json& results, const std::string& name) {
  return step_of(results, name).value("reason", "");
}

// What every run begins with.
const Strings kFacts = {"unpack", "the device", "the driver",  "nvcc",
                        "cuFFT",  "NCCL",       "the program", "the device's properties"};

Strings with_facts(const Strings& more) {
  Strings all = kFacts;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class GpuCheck : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kPython)) MARGAY_SKIP_FOR_WANT_OF("python3", "there is no /usr/bin/python3");
  }

  FakeGpuMachine machine_;
};

TEST_F(GpuCheck, GoesFromWhatMattersMostToTheRest) {
  const Finished f = machine_.check();
  EXPECT_EQ(f.exit_code, 0) << f.output << f.error;
  const Json results = machine_.json();
  EXPECT_THAT(names_of(results),
              testing::ElementsAreArray(with_facts({"kernel tests",
                                                    "self-test cufft fp32",
                                                    "self-test fused fp32",
                                                    "self-test fused fp16",
                                                    "benchmark 4096x4096 512, 3 rounds",
                                                    "profile fused:fp32",
                                                    "profile fused:fp16",
                                                    "search tests",
                                                    "path tests",
                                                    "reference tests",
                                                    "other tests",
                                                    "no device is visible",
                                                    "there is no device 99",
                                                    "a search that fits no device",
                                                    "compute-sanitizer memcheck",
                                                    "compute-sanitizer racecheck",
                                                    "benchmark 4096x4096 512",
                                                    "benchmark 4096x4096 384",
                                                    "benchmark 5760x4092 512",
                                                    "benchmark 5760x4092 384",
                                                    "ranks against one",
                                                    "a killed rank ends the others",
                                                    "compute-sanitizer synccheck",
                                                    "compute-sanitizer initcheck"})));
  EXPECT_EQ(results["device"], "Fake H200");
  EXPECT_EQ(results["driver"], "580.95");
  EXPECT_EQ(results["from"], "abcdef glibc 2.36 or newer driver 580 or newer");
  EXPECT_TRUE(results["finished"]);
  EXPECT_THAT(f.output, HasSubstr("\n40 passed, 0 failed, 2 skipped\n"));
}

TEST_F(GpuCheck, KeepsTheFiguresOfEveryStep) {
  machine_.check();
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "the device's properties")["figures"]["properties"]["l2CacheSize"],
            62914560);
  EXPECT_EQ(step_of(results, "benchmark 5760x4092 384")["figures"]["cases"][0]["rate"], 12000);
  const Json profile = step_of(results, "profile fused:fp32")["figures"];
  ASSERT_EQ(profile.size(), 2U);
  EXPECT_EQ(profile[0]["kernel"], "correlate_columns");
  EXPECT_EQ(profile[0]["metrics"]["dram__bytes_read.sum"], 1234567);
  EXPECT_EQ(profile[1]["metrics"].begin().key(), "dram__bytes_read.sum");
}

TEST_F(GpuCheck, AsksToolsForWhatChangesNoSetting) {
  machine_.script("compute-sanitizer", "echo \"small cases: $MARGAY_SMALL_CASES\"");
  machine_.check();
  EXPECT_THAT(machine_.calls(), Contains(AllOf(HasSubstr("ncu "), HasSubstr("--clock-control none"),
                                               HasSubstr("correlate_columns|finish_rows"),
                                               HasSubstr("gpu_bench --side fused:fp32"))));
  EXPECT_THAT(machine_.calls(), Contains(AllOf(HasSubstr("compute-sanitizer --tool racecheck"),
                                               HasSubstr("*CudaKernels*:*CudaFused*"))));
  EXPECT_THAT(machine_.log(), HasSubstr("small cases: 1"));
}

TEST_F(GpuCheck, DoesTheNamedPartsAlone) {
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 0);
  EXPECT_THAT(
      names_of(machine_.json()),
      testing::ElementsAreArray(with_facts({"kernel tests", "self-test cufft fp32",
                                            "self-test fused fp32", "self-test fused fp16"})));
  machine_.remove("results");
  EXPECT_EQ(machine_.check({"--profile", "--bench"}).exit_code, 0);
  EXPECT_THAT(
      names_of(machine_.json()),
      testing::ElementsAreArray(with_facts(
          {"profile fused:fp32", "profile fused:fp16", "benchmark 4096x4096 512",
           "benchmark 4096x4096 384", "benchmark 5760x4092 512", "benchmark 5760x4092 384"})));
  EXPECT_EQ(machine_.check({"--fast"}).exit_code, 2);
  EXPECT_EQ(machine_.check({"--seconds", "many"}).exit_code, 2);
  EXPECT_THAT(machine_.check({"--help"}).output, HasSubstr("driver 580 or newer"));
}

// --------------------------------------------------------------------------- What is killed ---

struct Victim {
  const char* program;
  const char* call;  // it hangs in the first call whose arguments have this
  const char* step;
  std::string before;  // a step that had ended
};

TEST_F(GpuCheck, ThatIsKilledLeavesTheFiguresOfAllStepsBefore) {
  const Victim victims[] = {
      {"gpu_bench", "--rounds 3", "benchmark 4096x4096 512, 3 rounds", "self-test fused fp16"},
      {"ncu", "fused:fp16", "profile fused:fp16", "profile fused:fp32"},
      {"gpu_test", "CudaPaths", "path tests", "benchmark 4096x4096 512, 3 rounds"}};
  for (const Victim& victim : victims) {
    SCOPED_TRACE(victim.step);
    const FakeGpuMachine machine;
    machine.script(victim.program, "case \"$*\" in *'" + std::string(victim.call) +
                                       "'*) echo half way; echo $$ >$FAKE_MACHINE/hangs.new; mv "
                                       "$FAKE_MACHINE/hangs.new $FAKE_MACHINE/hangs; exec sleep "
                                       "600;; esac");
    const auto running = machine.start();
    ASSERT_TRUE(becomes_true([&] { return fs::exists(machine.file("hangs")); }));
    running->signal(SIGKILL);
    EXPECT_THAT(running->wait().output, HasSubstr("== the device: 1 passed"));
    const Json results = machine.json();
    EXPECT_EQ(results["running"], victim.step);
    EXPECT_FALSE(results["finished"]);
    EXPECT_GT(step_of(results, victim.before)["passed"], 0);
    EXPECT_EQ(step_of(results, "the device's properties")["figures"]["properties"]["l2CacheSize"],
              62914560);
    EXPECT_THAT(names_of(results), Not(Contains(victim.step)));
    EXPECT_THAT(machine.log(), HasSubstr("half way"));
    // It does not keep the device.
    const std::string process =
        "/proc/" + std::to_string(std::stoi(text_of(machine.file("hangs"))));
    EXPECT_TRUE(becomes_true([&] {
      return !fs::exists(process) ||
             text_of_process(process + "/stat").find(") Z") != std::string::npos;
    }));
  }
}

TEST_F(GpuCheck, ThatIsKilledAtAnyMomentLeavesWholeJson) {
  std::mt19937 random(7);
  for (int i = 0; i < 12; ++i) {
    const FakeGpuMachine machine;
    const auto running = machine.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1500));
    running->signal(SIGKILL);
    running->wait();
    if (machine.result(".json").empty()) continue;  // killed before it began
    EXPECT_NO_THROW({
      const Json results = machine.json();
      EXPECT_LE(results["steps"].size(), 32U);
    });
  }
}

TEST_F(GpuCheck, GoesOnWhenNobodyReadsWhatItPrints) {
  EXPECT_EQ(machine_.check_into("head -n 1").exit_code, 0);
  ASSERT_TRUE(becomes_true([&] { return machine_.json()["finished"].get<bool>(); }));
  EXPECT_EQ(machine_.json()["steps"].size(), 32U);
}

TEST_F(GpuCheck, ThatIsAskedToStopSaysInWhatStep) {
  machine_.script("gpu_test",
                  "case \"$*\" in *CudaPaths.*) : >$FAKE_MACHINE/hangs; sleep 600;; esac");
  const auto running = machine_.start({"--rest"});
  ASSERT_TRUE(becomes_true([&] { return fs::exists(machine_.file("hangs")); }));
  running->signal(SIGTERM);
  EXPECT_EQ(running->wait().exit_code, 1);
  EXPECT_THAT(reason_of(machine_.json(), "path tests"), HasSubstr("stopped during it"));
  EXPECT_EQ(names_of(machine_.json()).back(), "path tests");
}

// -------------------------------------------------------------------------------- The time ---

TEST_F(GpuCheck, CountsTheTimeFromItsStartTheRebuildIncluded) {
  machine_.add("package/rebuild");
  machine_.script("rebuild", "pass_time 300");
  machine_.script("gpu_test", "pass_time 40");
  machine_.script("gpu_bench", "case \"$*\" in *rounds*) pass_time 25;; esac");
  const Finished f = machine_.check({"--rebuild"});
  EXPECT_EQ(f.exit_code, 1);
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "rebuild")["seconds"], 300);
  EXPECT_EQ(results["from"],
            "abcdef glibc 2.36 or newer driver 580 or newer, kernels compiled again");
  EXPECT_EQ(step_of(results, "profile fused:fp32")["passed"], 1);
  // 540 - 300 - 4 x 40 of the tests - 25 of the benchmark, of which 6 are kept for the end.
  EXPECT_EQ(step_of(results, "other tests")["passed"], 3);
  EXPECT_EQ(reason_of(results, "compute-sanitizer memcheck"),
            "it needs about 25 s, and 9 of the 540 s are left");
  EXPECT_EQ(reason_of(results, "benchmark 4096x4096 384"),
            "it needs about 30 s, and 9 of the 540 s are left");
  // What is short still fits.
  EXPECT_EQ(step_of(results, "no device is visible")["passed"], 1);
  EXPECT_THAT(f.output, HasSubstr("525 s\n"));
}

TEST_F(GpuCheck, WithoutTimeSkipsEveryStepWithItsReason) {
  EXPECT_EQ(machine_.check({"--seconds", "0"}).exit_code, 1);
  const Json results = machine_.json();
  EXPECT_EQ(results["steps"].size(), 32U);
  for (const Json& step : results["steps"]) {
    EXPECT_EQ(step["skipped"], 1) << step;
    EXPECT_THAT(step["reason"].get<std::string>(), HasSubstr("0 of the 0 s are left"));
  }
}

TEST_F(GpuCheck, StopsAProgramThatHangsAndGoesOn) {
  machine_.script("gpu_test",
                  "case \"$*\" in *CudaPaths.*) pass_time 151; echo $$ "
                  ">$FAKE_MACHINE/hangs; exec sleep 600;; esac");
  EXPECT_EQ(machine_.check().exit_code, 1);
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "path tests")["failed"], 1);
  EXPECT_EQ(reason_of(results, "path tests"), "stopped after 151 s");
  EXPECT_EQ(step_of(results, "reference tests")["passed"], 3);
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(std::stoi(text_of(machine_.file("hangs"))))));
}

TEST_F(GpuCheck, EndsAStepForWhichTheTimeWasShortWithoutCallingItAFailure) {
  machine_.script("gpu_test", "case \"$*\" in *CudaPaths.*) pass_time 151; sleep 600;; esac");
  EXPECT_EQ(machine_.check({"--rest", "--seconds", "100"}).exit_code, 1);
  EXPECT_EQ(step_of(machine_.json(), "path tests")["failed"], 0);
  EXPECT_EQ(reason_of(machine_.json(), "path tests"), "it did not end in the 151 s that were left");
}

// ---------------------------------------------------------------------- What is not there ---

TEST_F(GpuCheck, SaysWhichToolsAreMissingAndGoesOn) {
  for (const char* tool : {"ncu", "compute-sanitizer", "nvcc", "nvidia-smi"}) {
    machine_.remove("path/" + std::string(tool));
  }
  EXPECT_EQ(machine_.check().exit_code, 1);
  const Json results = machine_.json();
  EXPECT_EQ(results["steps"].size(), 32U);
  EXPECT_THAT(reason_of(results, "the device"), HasSubstr("nvidia-smi is not in PATH"));
  EXPECT_THAT(reason_of(results, "nvcc"), HasSubstr("only --rebuild needs it"));
  EXPECT_THAT(reason_of(results, "profile fused:fp32"), HasSubstr("ncu (Nsight Compute)"));
  EXPECT_THAT(reason_of(results, "compute-sanitizer memcheck"), HasSubstr("neither in PATH"));
  EXPECT_EQ(step_of(results, "benchmark 5760x4092 384")["passed"], 1);
  for (const Json& step : results["steps"]) EXPECT_EQ(step["failed"], 0) << step;
}

TEST_F(GpuCheck, TakesAProfileThatIsNotPermittedForALine) {
  machine_.script("ncu",
                  "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' "
                  ">\"$(value_of --log-file \"$@\")\"; exit 1");
  EXPECT_EQ(machine_.check({"--profile", "--bench"}).exit_code, 1);
  EXPECT_THAT(reason_of(machine_.json(), "profile fused:fp32"), HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_EQ(step_of(machine_.json(), "profile fused:fp32")["skipped"], 1);
  EXPECT_EQ(step_of(machine_.json(), "benchmark 4096x4096 512")["passed"], 1);
  machine_.remove("results");
  machine_.script("ncu", "echo '==ERROR== LibraryNotLoaded'; exit 1");
  machine_.check({"--profile"});
  EXPECT_THAT(reason_of(machine_.json(), "profile fused:fp16"), HasSubstr("LibraryNotLoaded"));
}

TEST_F(GpuCheck, TakesLibrariesFromWhereTheyAreAndSaysWhich) {
  machine_.script("ldconfig", "exit 0");
  machine_.script("margay-engine", "echo \"libraries: $LD_LIBRARY_PATH\"");
  const std::string packages = machine_.file("venv/lib/python3.12/site-packages/nvidia");
  fs::create_directories(packages + "/cu13/lib");
  fs::create_directories(packages + "/nccl/lib");
  std::ofstream(packages + "/cu13/lib/libcufft.so.12") << "x";
  std::ofstream(packages + "/nccl/lib/libnccl.so.2") << "x";
  const Strings environment = {"VIRTUAL_ENV=" + machine_.file("venv")};
  EXPECT_EQ(machine_.check({"--quick"}, environment).exit_code, 0);
  Json cufft = step_of(machine_.json(), "cuFFT")["figures"];
  EXPECT_EQ(cufft["found_in"], "a Python environment");
  EXPECT_EQ(cufft["path"], packages + "/cu13/lib/libcufft.so.12");
  EXPECT_THAT(machine_.log(),
              HasSubstr("libraries: " + packages + "/nccl/lib:" + packages + "/cu13/lib\n"));

  fs::create_directories(machine_.file("cuda/lib64"));
  std::ofstream(machine_.file("cuda/lib64/libcufft.so.12")) << "x";
  machine_.remove("results");
  machine_.check({"--quick"}, environment);
  EXPECT_EQ(step_of(machine_.json(), "cuFFT")["figures"]["found_in"], "a CUDA toolkit");
  EXPECT_EQ(step_of(machine_.json(), "NCCL")["figures"]["found_in"], "a Python environment");

  machine_.script("ldconfig", "");
  machine_.remove("results");
  machine_.check({"--quick"}, environment);
  EXPECT_EQ(step_of(machine_.json(), "cuFFT")["figures"]["found_in"], "the loader's path");
  EXPECT_EQ(step_of(machine_.json(), "cuFFT")["figures"]["path"], "/fake/libcufft.so.12");
}

TEST_F(GpuCheck, WithoutCufftFailsInThatLineAndGoesOn) {
  machine_.script("ldconfig", "exit 0");
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 1);
  const Json results = machine_.json();
  EXPECT_THAT(reason_of(results, "cuFFT"), HasSubstr("none of libcufft.so.12, libcufft.so.11"));
  EXPECT_EQ(step_of(results, "cuFFT")["failed"], 1);
  EXPECT_EQ(step_of(results, "NCCL")["skipped"], 1);
  EXPECT_EQ(step_of(results, "kernel tests")["passed"], 3);
}

TEST_F(GpuCheck, TakesATestThatIsSkippedForWantOfNcclForNoFailure) {
  machine_.script("gpu_test",
                  "case \"$*\" in *=-*) printf '%s\\n' '[ RUN      ] NcclOnGpu.X' "
                  "'/src/nccl_test.cpp:21: Skipped' 'this build has no NCCL' '' "
                  "'[  SKIPPED ] NcclOnGpu.X (0 ms)' '[  PASSED  ] 2 tests.' "
                  "'[  SKIPPED ] 1 test, listed below:'; exit 0;; esac");
  const Finished f = machine_.check();
  EXPECT_EQ(f.exit_code, 0) << f.output;
  EXPECT_EQ(step_of(machine_.json(), "other tests")["skipped"], 1);
  EXPECT_EQ(reason_of(machine_.json(), "other tests"), "this build has no NCCL");
}

// --------------------------------------------------------------------------- What is wrong ---

TEST_F(GpuCheck, CountsAndShowsWhatFails) {
  machine_.script("gpu_test",
                  "case \"$*\" in *CudaPaths.*) printf '%s\\n' '[ RUN      ] CudaPaths.A' "
                  "'the maps differ' '[  FAILED  ] CudaPaths.A (9 ms)' '[  PASSED  ] 4 tests.' "
                  "'[  FAILED  ] 2 tests, listed below:'; exit 1;; "
                  "*CudaReference*) kill -SEGV $$;; *CudaSearch*) exit 0;; esac");
  machine_.script("compute-sanitizer",
                  "echo '[  PASSED  ] 3 tests.'; case \"$*\" in *racecheck*) echo '========= "
                  "RACECHECK SUMMARY: 2 hazards displayed'; exit 9;; *memcheck*) echo '========= "
                  "Error: Device not supported'; exit 9;; *sync*) exit 0;; esac");
  const Finished f = machine_.check({"--rest"});
  EXPECT_EQ(f.exit_code, 1);
  EXPECT_THAT(f.output, HasSubstr("the maps differ"));
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "path tests")["failed"], 2);
  EXPECT_EQ(step_of(results, "path tests")["passed"], 4);
  EXPECT_THAT(reason_of(results, "reference tests"), HasSubstr("status 139, no test ran"));
  EXPECT_THAT(reason_of(results, "search tests"), HasSubstr("no test ran"));
  EXPECT_THAT(reason_of(results, "compute-sanitizer racecheck"), HasSubstr("2 hazards"));
  EXPECT_EQ(step_of(results, "compute-sanitizer racecheck")["failed"], 1);
  EXPECT_EQ(step_of(results, "compute-sanitizer memcheck")["skipped"], 1);
  EXPECT_THAT(reason_of(results, "compute-sanitizer synccheck"), HasSubstr("it did not look"));
}

TEST_F(GpuCheck, SaysThatTheDriverIsTooOldForThePackage) {
  machine_.script("nvidia-smi",
                  "case \"$*\" in *noheader) echo 'Old GPU, 535.183.01'; exit 0;; esac");
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 1);
  EXPECT_THAT(reason_of(machine_.json(), "the driver"),
              AllOf(HasSubstr("want driver 580"), HasSubstr("535.183.01")));
}

TEST_F(GpuCheck, KeepsTheFiguresOfABenchmarkThatComplains) {
  machine_.script("gpu_bench",
                  "case \"$*\" in *5760x4092*) echo '{\"cases\": [7]}' "
                  ">\"$(value_of --json \"$@\")\"; exit 70;; esac");
  machine_.check({"--bench"});
  const Json step = step_of(machine_.json(), "benchmark 5760x4092 512");
  EXPECT_EQ(step["failed"], 1);
  EXPECT_EQ(step["figures"]["cases"][0], 7);
}

TEST_F(GpuCheck, KeepsOfALongOutputItsBeginningAndItsEnd) {
  machine_.script("gpu_test", "echo the beginning; head -c 3000000 /dev/zero | tr '\\0' x; echo");
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 0);
  EXPECT_LT(machine_.log().size(), 600000U);
  EXPECT_THAT(machine_.log(), AllOf(HasSubstr("the beginning"), HasSubstr("bytes are left out]"),
                                    HasSubstr("[  PASSED  ] 3 tests.")));
}

// ---------------------------------------------------------------------- Two devices or more ---

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
  ::kill(std::stoi(text_of(machine_.file("left"))), SIGKILL);
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
