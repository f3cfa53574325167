// An idle cluster fills at the pace of the site's ordinary settings.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"

namespace tests {
namespace {

std::string with(std::string text, const std::string& old, const std::string& other) {
  const size_t at = text.find(old);
  if (at == std::string::npos) throw std::runtime_error("no '" + old + "' in " + text);
  return text.replace(at, old.size(), other);
}

TEST(Fill, AnIdleClusterFillsFastWithTheOrdinarySettings) {
  if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  const SlurmBed bed(BedOptions{.nodes = 4});
  const SiteOptions options{
      .slurm = "  shape: cpu\n  max_jobs: 200\n  options: {cpus-per-task: 1, mem: 10M}\n"};
  SlurmQueue queue(bed, options);
  std::string site = site_lines(bed, options);
  site = with(site, "tick: 50ms", "tick: 1s");
  site = with(site, "poll: 200ms\n  requests_per_minute: 100000", "poll: 10s");
  queue.configure(site);
  queue.let_searches_wait();
  queue.start_daemon();
  queue.add_template();
  std::vector<std::string> command = queue.enqueue_command(queue.make_micrograph("0.mrc"));
  command.push_back("--same-ctf");
  for (int i = 1; i < 300; ++i) {
    command.insert(command.begin() + 2, queue.make_micrograph(std::to_string(i) + ".mrc"));
  }
  const Finished done = queue.margay(command);
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const auto running = [&] {
    std::istringstream lines(bed.squeue({"--noheader", "--states=RUNNING", "--format=%i"}));
    int count = 0;
    for (std::string line; std::getline(lines, line);) ++count;
    return count;
  };
  // With a listing every 10 s alone it would take more than two minutes.
  const auto began = std::chrono::steady_clock::now();
  const auto waited = [&] {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                            began)
        .count();
  };
  while (running() < 64 && waited() < 100) std::this_thread::sleep_for(std::chrono::seconds(1));
  std::cout << "says|" << running() << " of 64 cores after " << waited() << " s" << std::endl;
  EXPECT_EQ(running(), 64);
}

}  // namespace
}  // namespace tests
