// A team of threads on one memory node and on several, which are made up of this machine's
// processors.
#include "engine/cpu/thread_team.h"

#include <gmock/gmock.h>
#include <sched.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/require.h"
#include "tests/unit/engine/scratch.h"

namespace engine::cpu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ProcessorList, IsReadAsLinuxWritesIt) {
  EXPECT_THAT(read_processor_list("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(read_processor_list("5"), ElementsAre(5));
  for (const char* odd : {"", "\n", "x", "3-1", "1-", "-2", "0-99999999"}) {
    EXPECT_THAT(read_processor_list(odd), IsEmpty()) << odd;
  }
}

Processors all_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  Processors all;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) all.push_back(i);
  }
  return all;
}

TEST(MemoryNodes, AreThoseOnWhichThisProcessMayRun) {
  const tests::ScratchFolder folder;
  const int mine = all_processors().front();
  for (const auto& [node, list] :
       {std::pair{"node0", "1000-1020\n"}, {"node1", "\n"}, {"node2", ""}}) {
    std::filesystem::create_directory(folder / node);
    write_file(folder / (std::string(node) + "/cpulist"), list);
  }
  write_file(folder / "node2/cpulist", std::to_string(mine) + ",1021\n");
  write_file(folder / "online", "0-2\n");
  EXPECT_THAT(memory_nodes(folder.path()), ElementsAre(ElementsAre(mine)));
  EXPECT_THAT(memory_nodes(folder / "nothing"), IsEmpty());
}

TEST(NodesOfThreads, AreInProportionToTheirProcessors) {
  const std::vector<Processors> even = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  EXPECT_THAT(nodes_of_threads(even, 4), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(nodes_of_threads(even, 8).size(), 8u);
  EXPECT_THAT(nodes_of_threads(even, 1), IsEmpty()) << "many such processes share the machine";
  EXPECT_THAT(nodes_of_threads(even, 3), IsEmpty());
  EXPECT_THAT(nodes_of_threads({{0, 1, 2, 3}}, 4), IsEmpty()) << "there is nothing to choose";
  EXPECT_THAT(nodes_of_threads({{0}, {1, 2}}, 3), ElementsAre(0, 1, 1));
  EXPECT_THAT(nodes_of_threads({}, 4), IsEmpty());
}

void expect_each_once(ThreadTeam& team, size_t count) {
  std::vector<std::atomic<int>> taken(count);
  team.run(count, [&](size_t i, int) { ++taken[i]; });
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(taken[i], 1) << i;
}

void expect_teams_take_each_once() {
  const int mine = all_processors().front();
  for (const std::vector<Processors>& nodes :
       {std::vector<Processors>{}, {{mine}}, {{mine}, {mine}}, {{mine}, {mine}, {mine}}}) {
    for (const int threads : {1, 2, 3, 6}) {
      ThreadTeam team(threads, nodes);
      for (const size_t count : {0, 1, 2, 5, 100}) expect_each_once(team, count);
    }
  }
}

TEST(ThreadTeam, TakesEachIterationOnce) { expect_teams_take_each_once(); }

TEST(ThreadTeam, TakesEachIterationOnceOnOneProcessor) {
  const OnProcessors here({all_processors().front()});
  expect_teams_take_each_once();
}

TEST(ThreadTeam, KeepsThePartsOfEachNodeOnIt) {
  const int mine = all_processors().front();
  ThreadTeam team(4, {{mine}, {mine}});
  std::barrier<> all_begun(4);
  std::vector<int> threads(4);
  for (int round = 0; round < 3; ++round) {
    // No thread can take another's iteration before all have one.
    team.run(4, [&](size_t i, int thread) {
      threads[i] = thread;
      all_begun.arrive_and_wait();
    });
    EXPECT_THAT(std::set<int>({threads[0], threads[1]}), ElementsAre(0, 1));
    EXPECT_THAT(std::set<int>({threads[2], threads[3]}), ElementsAre(2, 3));
  }
}

TEST(ThreadTeam, HelpsANodeWhoseThreadsAreSlow) {
  const int mine = all_processors().front();
  ThreadTeam team(2, {{mine}, {mine}});
  constexpr size_t kCount = 10;
  std::atomic<size_t> by_other = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  // The second node's thread holds its first iteration until all others are done.
  team.run(kCount, [&](size_t, int thread) {
    if (thread == 0) {
      ++by_other;
      return;
    }
    while (by_other < kCount - 1 && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
  });
  EXPECT_GE(by_other, kCount - 1);
}

TEST(ThreadTeam, RunsOnTheProcessorsOfItsNodes) {
  const Processors all = all_processors();
  if (all.size() < 2) MARGAY_SKIP_FOR_WANT_OF("processors", "this machine has one processor");
  const std::vector<Processors> nodes = {{all[0]}, {all[1]}};
  {
    ThreadTeam team(2, nodes);
    std::barrier<> both(2);
    std::vector<Processors> seen(2);
    team.run(2, [&](size_t, int thread) {
      seen[static_cast<size_t>(thread)] = all_processors();
      both.arrive_and_wait();
    });
    EXPECT_EQ(seen, nodes);
    EXPECT_EQ(all_processors(), all) << "between two runs the caller runs anywhere";
  }
  ThreadTeam uneven(3, nodes);
  uneven.run(30, [&](size_t, int) { EXPECT_EQ(all_processors(), all); });
}

TEST(ThreadTeam, RethrowsWhatATaskThrows) {
  const int mine = all_processors().front();
  ThreadTeam team(4, {{mine}, {mine}});
  const auto fail = [](size_t i, int) {
    if (i == 70) throw std::runtime_error("seventy");
  };
  EXPECT_THROW(team.run(100, fail), std::runtime_error);
  expect_each_once(team, 100);
}

}  // namespace
}  // namespace engine::cpu
