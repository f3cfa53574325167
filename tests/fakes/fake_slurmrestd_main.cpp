// margay-fake-slurmrestd: the fake slurmrestd as a program of its own, for trying things by hand.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "tests/fakes/fake_slurmrestd.h"

namespace tests {
namespace {

constexpr const char* kUsage =
    "usage: margay-fake-slurmrestd --state DIR [--port N | --unix PATH] [--version 22.05|24.11]\n"
    "         [--script FILE] [--token-file FILE] [--slots N] [--no-accounting]\n"
    "Answers as slurmrestd and runs the jobs on this machine. --script: faults, a line each\n"
    "(tests/fakes/fake_faults.h). GET /fake/requests and /fake/log say what it was asked, POST\n"
    "/fake/faults gives it new faults. SIGTERM ends it and its jobs.\n";

FakeSlurmrestdOptions parse(int argc, char** argv) {
  FakeSlurmrestdOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--no-accounting") {
      options.accounting = false;
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument(name + " needs a value");
    const std::string value = argv[++i];
    if (name == "--state") {
      options.cluster.folder = value;
    } else if (name == "--port") {
      options.port = std::stoi(value);
    } else if (name == "--unix") {
      options.unix_path = value;
    } else if (name == "--version") {
      options.release = value;
    } else if (name == "--token-file") {
      options.token_file = value;
    } else if (name == "--slots") {
      options.cluster.slots = std::stoi(value);
    } else if (name == "--script") {
      std::ifstream file(value);
      if (!file) throw std::invalid_argument("cannot read " + value);
      options.faults.assign(std::istreambuf_iterator<char>(file), {});
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  if (options.cluster.folder.empty()) throw std::invalid_argument("--state is missing");
  return options;
}

int serve(const FakeSlurmrestdOptions& options) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const FakeSlurmrestd fake(options);
  std::printf("ready: %s\n", fake.url().c_str());
  std::fflush(stdout);
  int number = 0;
  sigwait(&ends, &number);
  return 0;
}

}  // namespace
}  // namespace tests

int main(int argc, char** argv) {
  try {
    return tests::serve(tests::parse(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "margay-fake-slurmrestd: %s\n%s", error.what(), tests::kUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "margay-fake-slurmrestd: %s\n", error.what());
    return 1;
  }
}
