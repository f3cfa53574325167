// The real tools/gpu-check, on a machine whose programs are all fakes: in what order it goes, and
// what it makes of programs that fail, or are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/gpu_check_fixture.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// What every run begins with.
const Strings kFacts = {"the device", "nvcc", "the driver",  "unpack",
                        "cuFFT",      "NCCL", "the program", "the device's properties"};

Strings with_facts(const Strings& more) {
  Strings all = kFacts;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

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
                                                    "profile fused:fp32 correlate_columns",
                                                    "profile fused:fp32 finish_rows",
                                                    "profile fused:fp16 correlate_columns",
                                                    "profile fused:fp16 finish_rows",
                                                    "profile fused:fp32:in-two correlate_columns",
                                                    "profile fused:fp32:rows-ahead "
                                                    "finish_rows",
                                                    "search tests",
                                                    "path tests",
                                                    "reference tests",
                                                    "other tests",
                                                    "no device is visible",
                                                    "there is no device 99",
                                                    "a search that fits no device",
                                                    "compute-sanitizer memcheck",
                                                    "compute-sanitizer racecheck",
                                                    "kernels 4096x4096 512",
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
  EXPECT_THAT(f.output, HasSubstr("\n45 passed, 0 failed, 2 skipped\n"));
}

TEST_F(GpuCheck, KeepsTheFiguresOfEveryStep) {
  machine_.check();
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "the device's properties")["figures"]["properties"]["l2CacheSize"],
            62914560);
  EXPECT_EQ(step_of(results, "benchmark 5760x4092 384")["figures"]["cases"][0]["rate"], 12000);
  const Json first = step_of(results, "benchmark 4096x4096 512, 3 rounds")["figures"];
  EXPECT_EQ(first.size(), 3U);
  EXPECT_EQ(first["fused:fp16"]["cases"][0]["rate"], 12000);
  const Json profile = step_of(results, "profile fused:fp32 correlate_columns")["figures"];
  ASSERT_EQ(profile.size(), 2U);
  EXPECT_EQ(profile[0]["kernel"], "correlate_columns");
  EXPECT_EQ(profile[0]["metrics"]["dram__bytes_read.sum"], 1234567);
  EXPECT_EQ(profile[1]["metrics"].begin().key(), "dram__bytes_read.sum");
  EXPECT_EQ(step_of(results, "profile fused:fp16 finish_rows")["figures"][0]["kernel"],
            "finish_rows");
}

TEST_F(GpuCheck, MeasuresAndProfilesTheKernelsThatAPlanDoesNotChoose) {
  machine_.check({"--profile", "--bench"});
  for (const std::string precision : {"fp32", "fp16"}) {
    for (const char* words : {" ", ":chunks-first", ":in-two", ":rows-ahead", ":rows-in-turn"}) {
      EXPECT_THAT(machine_.calls(),
                  Contains(AllOf(HasSubstr("gpu_bench --case 4096x4096 512"),
                                 HasSubstr("--side fused:" + precision + words))));
    }
  }
  for (const char* side : {"fused:fp32", "fused:fp32:in-two"}) {
    EXPECT_THAT(machine_.calls(), Contains(AllOf(HasSubstr("regex:^correlate_columns(_in_two)?$"),
                                                 HasSubstr(std::string("--side ") + side + " "))));
  }
  EXPECT_THAT(machine_.calls(), Contains(AllOf(HasSubstr("regex:^finish_rows$"),
                                               HasSubstr("--side fused:fp32:rows-ahead "))));
}

TEST_F(GpuCheck, CallsNoStallWhatIsNone) {
  EXPECT_THAT(machine_.check({"--profile"}).output, HasSubstr("stalls barrier 2.50\n"));
}

TEST_F(GpuCheck, AsksToolsForWhatChangesNoSetting) {
  machine_.script("compute-sanitizer", "echo \"small cases: $MARGAY_SMALL_CASES\"");
  machine_.script("ncu", "echo \"locks: $TMPDIR\"");
  machine_.check();
  EXPECT_THAT(machine_.log(), HasSubstr("locks: " + machine_.file("margay-gpu-check.")));
  EXPECT_THAT(machine_.calls(), Contains(AllOf(HasSubstr("ncu "), HasSubstr("--clock-control none"),
                                               HasSubstr("regex:^finish_rows$"),
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
  EXPECT_THAT(names_of(machine_.json()),
              testing::ElementsAreArray(with_facts(
                  {"profile fused:fp32 correlate_columns", "profile fused:fp32 finish_rows",
                   "profile fused:fp16 correlate_columns", "profile fused:fp16 finish_rows",
                   "profile fused:fp32:in-two correlate_columns",
                   "profile fused:fp32:rows-ahead finish_rows", "kernels 4096x4096 512",
                   "benchmark 4096x4096 512", "benchmark 4096x4096 384", "benchmark 5760x4092 512",
                   "benchmark 5760x4092 384"})));
  EXPECT_EQ(machine_.check({"--fast"}).exit_code, 2);
  EXPECT_EQ(machine_.check({"--seconds", "many"}).exit_code, 2);
  EXPECT_THAT(machine_.check({"--help"}).output, HasSubstr("driver 580 or newer"));
}

// ---------------------------------------------------------------------- What is not there ---

TEST_F(GpuCheck, SaysWhichToolsAreMissingAndGoesOn) {
  for (const char* tool : {"ncu", "compute-sanitizer", "nvcc", "nvidia-smi"}) {
    machine_.remove("path/" + std::string(tool));
  }
  EXPECT_EQ(machine_.check().exit_code, 1);
  const Json results = machine_.json();
  EXPECT_EQ(results["steps"].size(), 37U);
  EXPECT_THAT(reason_of(results, "the device"), HasSubstr("nvidia-smi is not in PATH"));
  EXPECT_THAT(reason_of(results, "nvcc"), HasSubstr("only --rebuild needs it"));
  EXPECT_THAT(reason_of(results, "profile fused:fp32 correlate_columns"),
              HasSubstr("ncu (Nsight Compute)"));
  EXPECT_THAT(reason_of(results, "compute-sanitizer memcheck"), HasSubstr("neither in PATH"));
  EXPECT_EQ(step_of(results, "benchmark 5760x4092 384")["passed"], 1);
  for (const Json& step : results["steps"]) EXPECT_EQ(step["failed"], 0) << step;
}

TEST_F(GpuCheck, TakesAProfileThatIsNotPermittedForALine) {
  machine_.script("ncu",
                  "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' "
                  ">\"$(value_of --log-file \"$@\")\"; exit 1");
  EXPECT_EQ(machine_.check({"--profile", "--bench"}).exit_code, 1);
  EXPECT_THAT(reason_of(machine_.json(), "profile fused:fp32 correlate_columns"),
              HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_EQ(step_of(machine_.json(), "profile fused:fp32 correlate_columns")["skipped"], 1);
  EXPECT_EQ(step_of(machine_.json(), "benchmark 4096x4096 512")["passed"], 1);
  machine_.remove("results");
  machine_.script("ncu", "echo '==ERROR== LibraryNotLoaded'; exit 1");
  machine_.check({"--profile"});
  EXPECT_THAT(reason_of(machine_.json(), "profile fused:fp16 finish_rows"),
              HasSubstr("LibraryNotLoaded"));
}

TEST_F(GpuCheck, ProfilesWithoutAMetricThatTheDeviceDoesNotHave) {
  machine_.script("ncu",
                  "case \"$*\" in *--metrics*) echo '==ERROR== Failed to find metric "
                  "dram__bytes_read.sum' >\"$(value_of --log-file \"$@\")\"; exit 1;; esac");
  EXPECT_EQ(machine_.check({"--profile"}).exit_code, 0);
  const Json step = step_of(machine_.json(), "profile fused:fp32 finish_rows");
  EXPECT_EQ(step["passed"], 1);
  EXPECT_EQ(step["figures"].size(), 2U);
  EXPECT_THAT(machine_.log(), HasSubstr("Failed to find metric"));
}

TEST_F(GpuCheck, TakesLibrariesFromWhereTheyAreAndSaysWhich) {
  machine_.script("ldconfig", "exit 0");
  machine_.script("margay-engine",
                  "for l in \"$LD_LIBRARY_PATH\"/*; do echo \"${l##*/}: $(readlink $l)\"; done");
  const std::string packages = machine_.file("venv/lib/python3.12/site-packages/nvidia");
  fs::create_directories(packages + "/cu13/lib");
  fs::create_directories(packages + "/nccl/lib");
  std::ofstream(packages + "/cu13/lib/libcufft.so.12") << "x";
  std::ofstream(packages + "/cu13/lib/libnvperf_host.so") << "x";
  std::ofstream(packages + "/nccl/lib/libnccl.so.2") << "x";
  const Strings environment = {"VIRTUAL_ENV=" + machine_.file("venv")};
  EXPECT_EQ(machine_.check({"--quick"}, environment).exit_code, 0);
  Json cufft = step_of(machine_.json(), "cuFFT")["figures"];
  EXPECT_EQ(cufft["found_in"], "a Python environment");
  EXPECT_EQ(cufft["path"], packages + "/cu13/lib/libcufft.so.12");
  // Nothing else of those folders reaches a program.
  EXPECT_THAT(machine_.log(),
              HasSubstr("info\nlibcufft.so.12: " + packages + "/cu13/lib/libcufft.so.12\n" +
                        "libnccl.so.2: " + packages + "/nccl/lib/libnccl.so.2\n  transforms"));
}

TEST_F(GpuCheck, LooksForLibrariesInEveryPlaceInTurn) {
  machine_.script("ldconfig", "exit 0");
  const Strings environment = {"CONDA_PREFIX=" + machine_.file("conda")};
  const auto found = [&](const std::string& step) {
    machine_.remove("results");
    machine_.check({"--quick"}, environment);
    return step_of(machine_.json(), step)["figures"];
  };
  const auto put = [&](const std::string& path) {
    fs::create_directories(fs::path(machine_.file(path)).parent_path());
    std::ofstream(machine_.file(path)) << "x";
  };
  put("conda/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2");
  put("conda/lib/libcufft.so.12");
  EXPECT_EQ(found("cuFFT")["found_in"], "a Conda environment");
  EXPECT_EQ(found("NCCL")["found_in"], "a Python environment");
  // CUDA_HOME names a toolkit, and hides no other.
  fs::create_directories(machine_.file("cuda/lib64"));
  put("root/usr/local/cuda-13.0/lib64/libcufft.so.12");
  EXPECT_EQ(found("cuFFT")["path"], machine_.file("root/usr/local/cuda-13.0/lib64/libcufft.so.12"));
  put("cuda/lib64/libcufft.so.12");
  EXPECT_EQ(found("cuFFT")["path"], machine_.file("cuda/lib64/libcufft.so.12"));
  machine_.script("ldconfig", "");
  EXPECT_EQ(found("cuFFT")["found_in"], "the loader's path");
  EXPECT_EQ(found("cuFFT")["path"], "/fake/libcufft.so.12");
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
  // The device's properties decide.
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 0);
  EXPECT_THAT(reason_of(machine_.json(), "the driver"),
              AllOf(HasSubstr("want driver 580"), HasSubstr("535.183.01")));
  // Kernels that are compiled here want what this toolkit wants.
  machine_.add("package/rebuild");
  machine_.script("nvcc", "echo release 12.4, V12.4; exit 0");
  machine_.remove("results");
  machine_.check({"--quick", "--rebuild"});
  EXPECT_EQ(step_of(machine_.json(), "the driver")["figures"]["wanted"], 525);
}

TEST_F(GpuCheck, SaysThatThePackageIsOfAnotherCommit) {
  machine_.move_into_a_tree();
  machine_.add("tree/build/gpu/rebuild");
  const char* step = "the programs' commit";
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 1);
  EXPECT_THAT(reason_of(machine_.json(), step), HasSubstr("is of abcdef and this tree of 012345"));
  EXPECT_EQ(step_of(machine_.json(), "kernel tests")["passed"], 3);
  machine_.remove("results");
  EXPECT_EQ(machine_.check({"--quick", "--rebuild"}).exit_code, 0);
  EXPECT_EQ(machine_.json()["from"],
            "abcdef glibc 2.36 or newer driver 580 or newer, kernels compiled again from 012345");
  machine_.script("git", "case \"$*\" in *rev-parse*) echo 6789; exit 0;; esac");
  machine_.remove("results");
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 1);
  EXPECT_THAT(reason_of(machine_.json(), step), HasSubstr("is of 012345 and this tree of 6789"));
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

TEST_F(GpuCheck, KeepsTheFiguresOfTheSidesBesideABadOne) {
  machine_.script("gpu_bench",
                  "case \"$*\" in *fused:fp32*) pass_time 76; exec sleep 600;; "
                  "*fused:fp16*) kill -SEGV $$;; *--side*) ;; *'5760x4092 384'*) exit 70;; esac");
  EXPECT_EQ(machine_.check({"--seconds", "2000"}).exit_code, 1);
  for (const char* name : {"benchmark 4096x4096 512, 3 rounds", "benchmark 5760x4092 384"}) {
    const Json step = step_of(machine_.json(), name);
    EXPECT_EQ(step["failed"], 1) << step;
    EXPECT_EQ(step["figures"].size(), 1U);
    EXPECT_EQ(step["figures"]["cufft:fp32"]["cases"][0]["rate"], 12000);
    EXPECT_THAT(
        step["reason"].get<std::string>(),
        AllOf(HasSubstr("fused:fp32: stopped after 76 s"), HasSubstr("fused:fp16: status 139")));
  }
  EXPECT_EQ(step_of(machine_.json(), "benchmark 4096x4096 384")["passed"], 1);
}

TEST_F(GpuCheck, KeepsOfALongOutputItsBeginningAndItsEnd) {
  machine_.script("gpu_test", "echo the beginning; head -c 3000000 /dev/zero | tr '\\0' x; echo");
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 0);
  EXPECT_LT(machine_.log().size(), 600000U);
  EXPECT_THAT(machine_.log(), AllOf(HasSubstr("the beginning"), HasSubstr("bytes are left out]"),
                                    HasSubstr("[  PASSED  ] 3 tests.")));
}

}  // namespace
}  // namespace tests
