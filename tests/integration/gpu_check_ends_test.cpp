// The real tools/gpu-check, on a machine whose programs are all fakes: what it leaves when it is
// killed, and when its time or that of a program is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/integration/gpu_check_fixture.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

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
      {"ncu", "fused:fp16", "profile fused:fp16 correlate_columns",
       "profile fused:fp32 finish_rows"},
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
    EXPECT_TRUE(becomes_true([&] { return !lives(text_of(machine.file("hangs"))); }));
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
      EXPECT_LE(results["steps"].size(), 37U);
    });
  }
}

TEST_F(GpuCheck, GoesOnWhenNobodyReadsWhatItPrints) {
  for (const char* reader : {"| head -n 1", ">/dev/full"}) {
    machine_.remove("results");
    EXPECT_EQ(machine_.check_in_shell("", reader).exit_code, 0) << reader;
    ASSERT_TRUE(becomes_true([&] { return machine_.json()["finished"].get<bool>(); }));
    EXPECT_EQ(machine_.json()["steps"].size(), 37U);
  }
}

TEST_F(GpuCheck, GoesOnWithoutItsTerminalUnderNohup) {
  machine_.script("gpu_test", "kill -HUP $PPID");
  EXPECT_EQ(machine_.check_in_shell("trap '' HUP; ", "").exit_code, 0);
  EXPECT_TRUE(machine_.json()["finished"]);
  machine_.remove("results");
  EXPECT_EQ(machine_.check().exit_code, 1);
  EXPECT_EQ(machine_.json()["stopped"], "signal 1");
}

TEST_F(GpuCheck, LeavesNoProcessOfACommandThatEnded) {
  machine_.script("gpu_test", "sleep 600 & echo $! >$FAKE_MACHINE/left");
  EXPECT_EQ(machine_.check({"--quick"}).exit_code, 0);
  EXPECT_TRUE(becomes_true([&] { return !lives(text_of(machine_.file("left"))); }));
}

TEST_F(GpuCheck, ThatIsKilledLeavesNoProcessOfItsCommands) {
  machine_.script("gpu_test",
                  "(trap '' TERM HUP; sleep 600 & echo $! >$FAKE_MACHINE/left.new; mv "
                  "$FAKE_MACHINE/left.new $FAKE_MACHINE/left; wait) & wait");
  const auto running = machine_.start();
  ASSERT_TRUE(becomes_true([&] { return fs::exists(machine_.file("left")); }));
  EXPECT_TRUE(lives(text_of(machine_.file("left"))));
  running->signal(SIGKILL);
  running->wait();
  EXPECT_TRUE(becomes_true([&] { return !lives(text_of(machine_.file("left"))); }));
}

TEST_F(GpuCheck, GoesOnWhenAProcessDoesNotDie) {
  // As one in a call of a broken driver.
  machine_.script("gpu_test", "case \"$*\" in *CudaPaths.*) pass_time 151; exec sleep 600;; esac");
  fs::create_directories(machine_.file("python"));
  std::ofstream(machine_.file("python/sitecustomize.py"))
      << "import subprocess\n"
         "class Popen(subprocess.Popen):\n"
         "    def __init__(self, command, **more):\n"
         "        self.undying = any('CudaPaths.*' == word[-11:] for word in command)\n"
         "        super().__init__(command, **more)\n"
         "    def wait(self, timeout=None):\n"
         "        if self.undying: raise subprocess.TimeoutExpired('', timeout)\n"
         "        return super().wait(timeout)\n"
         "    def poll(self):\n"
         "        return None if self.undying else super().poll()\n"
         "subprocess.Popen = Popen\n";
  EXPECT_EQ(machine_.check({"--rest"}, {"PYTHONPATH=" + machine_.file("python")}).exit_code, 1);
  EXPECT_EQ(reason_of(machine_.json(), "path tests"),
            "not finished after 151 s, and it does not die");
  EXPECT_THAT(machine_.log(), HasSubstr("does not die]"));
  EXPECT_EQ(step_of(machine_.json(), "reference tests")["passed"], 3);
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
  EXPECT_EQ(machine_.json()["stopped"], "signal 15");
}

// -------------------------------------------------------------------------------- The time ---

TEST_F(GpuCheck, CountsTheTimeFromItsStartTheRebuildIncluded) {
  machine_.add("package/rebuild");
  machine_.script("rebuild", "pass_time 300");
  machine_.script("gpu_test", "pass_time 40");
  machine_.script("gpu_bench", "case \"$*\" in *rounds*) pass_time 8;; esac");
  const Finished f = machine_.check({"--rebuild"});
  EXPECT_EQ(f.exit_code, 1);
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "rebuild")["seconds"], 300);
  EXPECT_EQ(results["from"],
            "abcdef glibc 2.36 or newer driver 580 or newer, kernels compiled again from abcdef");
  EXPECT_EQ(step_of(results, "profile fused:fp32 finish_rows")["passed"], 1);
  // 540 - 300 - 5 x 40 of the tests - 3 x 8 of the benchmark, of which 6 are kept for the end.
  EXPECT_EQ(step_of(results, "other tests")["passed"], 3);
  EXPECT_EQ(reason_of(results, "compute-sanitizer memcheck"),
            "it needs about 25 s, and 10 of the 540 s are left");
  EXPECT_EQ(reason_of(results, "benchmark 4096x4096 384"),
            "it needs about 30 s, and 10 of the 540 s are left");
  // What is short still fits.
  EXPECT_EQ(step_of(results, "no device is visible")["passed"], 1);
  EXPECT_THAT(f.output, HasSubstr("524 s\n"));
}

TEST_F(GpuCheck, KeepsTimeForTheProgramsWhenARebuildDoesNotEnd) {
  machine_.add("package/rebuild");
  machine_.script("rebuild", "pass_time 334; exec sleep 600");
  EXPECT_EQ(machine_.check({"--rebuild", "--profile"}).exit_code, 1);
  EXPECT_EQ(reason_of(machine_.json(), "rebuild"),
            "not finished after 334 s, and 200 s are kept for what comes after it: the kernels are "
            "as packed");
  EXPECT_EQ(step_of(machine_.json(), "rebuild")["failed"], 0);
  EXPECT_EQ(names_of(machine_.json())[0], "the device");
  EXPECT_EQ(machine_.json()["from"], "abcdef glibc 2.36 or newer driver 580 or newer");
  EXPECT_EQ(step_of(machine_.json(), "profile fused:fp16 finish_rows")["passed"], 1);
}

TEST_F(GpuCheck, WithoutTimeSkipsEveryStepWithItsReason) {
  EXPECT_EQ(machine_.check({"--seconds", "0"}).exit_code, 1);
  const Json results = machine_.json();
  EXPECT_EQ(results["steps"].size(), 37U);
  for (const Json& step : results["steps"]) {
    EXPECT_EQ(step["skipped"], 1) << step;
    EXPECT_THAT(step["reason"].get<std::string>(), HasSubstr("0 of the 0 s are left"));
  }
}

TEST_F(GpuCheck, StopsAProgramThatHangsAndGoesOn) {
  machine_.script("gpu_test",
                  "case \"$*\" in *CudaPaths.*) pass_time 151; echo $$ "
                  ">$FAKE_MACHINE/hangs; exec sleep 600;; esac");
  machine_.script("margay-engine", "case \"$*\" in *fp16*) pass_time 46; exec sleep 600;; esac");
  EXPECT_EQ(machine_.check().exit_code, 1);
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "self-test fused fp16")["failed"], 1);
  EXPECT_EQ(reason_of(results, "self-test fused fp16"), "stopped after 46 s");
  EXPECT_EQ(step_of(results, "path tests")["skipped"], 1);
  EXPECT_EQ(reason_of(results, "path tests"), "not finished after 151 s");
  EXPECT_EQ(step_of(results, "reference tests")["passed"], 3);
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(std::stoi(text_of(machine_.file("hangs"))))));
}

TEST_F(GpuCheck, CountsWhatTestsAndSanitizersFoundUntilTheyWereStopped) {
  machine_.script("gpu_test",
                  "case \"$*\" in *CudaPaths.*) printf '%s\\n' '[ RUN      ] CudaPaths.A' "
                  "'[       OK ] CudaPaths.A (9 ms)' '[ RUN      ] CudaPaths.B' 'they differ' "
                  "'[  FAILED  ] CudaPaths.B (9 ms)' '[ RUN      ] CudaPaths.C'; pass_time 151; "
                  "exec sleep 600;; esac");
  machine_.script("compute-sanitizer",
                  "case \"$*\" in *memcheck*) pass_time 90;; *racecheck*) echo '========= Error: "
                  "Race reported between A and B'; pass_time 90;; *) exit 0;; esac\n"
                  "exec sleep 600");
  const Finished f = machine_.check({"--rest", "--bench", "--seconds", "1000"});
  EXPECT_THAT(f.output, HasSubstr("they differ"));
  const Json results = machine_.json();
  EXPECT_EQ(step_of(results, "path tests")["passed"], 1);
  EXPECT_EQ(step_of(results, "path tests")["failed"], 1);
  EXPECT_EQ(step_of(results, "compute-sanitizer memcheck")["skipped"], 1);
  EXPECT_EQ(reason_of(results, "compute-sanitizer memcheck"), "not finished after 90 s");
  EXPECT_EQ(step_of(results, "compute-sanitizer racecheck")["failed"], 1);
  EXPECT_THAT(reason_of(results, "compute-sanitizer racecheck"), HasSubstr("Race reported"));
}

TEST_F(GpuCheck, GivesSanitizersMoreTimeWhereTheRestIsAlone) {
  machine_.script("compute-sanitizer", "pass_time 199; sleep 0.1");
  EXPECT_EQ(machine_.check({"--rest", "--seconds", "1000"}).exit_code, 0);
}

TEST_F(GpuCheck, EndsAStepForWhichTheTimeWasShortWithoutCallingItAFailure) {
  machine_.script("gpu_test", "case \"$*\" in *CudaPaths.*) pass_time 151; sleep 600;; esac");
  EXPECT_EQ(machine_.check({"--rest", "--seconds", "100"}).exit_code, 1);
  EXPECT_EQ(step_of(machine_.json(), "path tests")["failed"], 0);
  EXPECT_EQ(reason_of(machine_.json(), "path tests"), "it did not end in the 151 s that were left");
}

}  // namespace
}  // namespace tests
