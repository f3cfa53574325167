#include "engine/launch/subprocess.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "base/private_folder.h"
#include "tests/wait_until.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

ProcessResult run_shell(const std::string& script, std::chrono::milliseconds timeout = 60s,
                        const std::atomic<bool>& stop = false) {
  return run_subprocess({"/bin/sh", "-c", script}, timeout, stop);
}

// Runs the script, which makes the file `$0` when it listens, and stops it then.
ProcessResult stop_shell(const std::string& script, std::chrono::milliseconds timeout) {
  const base::PrivateFolder folder("step-test");
  const std::string listens = folder.path() + "/listens";
  std::atomic<bool> stop = false;
  std::thread stopper([&] {
    tests::becomes_true([&] { return fs::exists(listens); });
    stop = true;
  });
  const ProcessResult end = run_subprocess({"/bin/sh", "-c", script, listens}, timeout, stop);
  stopper.join();
  return end;
}

TEST(RunStep, TellsHowItEndedAndWhatItSaid) {
  const ProcessResult end = run_shell("echo out; echo error >&2; exit 64");
  EXPECT_EQ(end.code, 64);
  EXPECT_EQ(end.messages, "out\nerror\n");
  EXPECT_EQ(run_shell("kill -9 $$").code, 128 + SIGKILL);
  EXPECT_EQ(run_shell("cat").messages, "");
}

TEST(RunStep, AProgramThatIsNotThereIsNamed) {
  // The thread sanitizer's _exit() writes what this process still has in its buffer once more.
  std::fflush(stdout);
  const ProcessResult end = run_subprocess({"/nowhere/srun"}, 60s, false);
  EXPECT_EQ(end.code, 127);
  EXPECT_EQ(end.messages, "cannot run '/nowhere/srun'\n");
}

TEST(RunStep, AStopGoesOnAsSigtermAlthoughItIsBlockedHere) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &term, &before);
  const ProcessResult end =
      stop_shell("trap 'echo asked; exit 3' TERM; : > \"$0\"; while :; do sleep 0.02; done", 60s);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.messages, "asked\n");
}

TEST(RunStep, WhatDoesNotListenIsKilled) {
  EXPECT_EQ(stop_shell("trap '' TERM; : > \"$0\"; while :; do sleep 0.02; done", 10ms).code,
            128 + SIGKILL);
}

}  // namespace
}  // namespace engine
