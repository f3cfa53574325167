// Ranks on several hosts: each in a network of its own, joined by a bridge. Needs root and
// iproute2. MARGAY_LONG=1 repeats it many more times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/integration/rank_group.h"
#include "tests/require.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

using testing::HasSubstr;

// Hosts that are networks of this machine; gone with this object.
class Hosts {
 public:
  // `containers`: each has, before its own address, one that the others get no answer from.
  explicit Hosts(int count, bool containers = false) : containers_(containers) {
    ip({"netns", "add", name("switch")});
    run_in("switch", {"ip", "link", "add", "bridge", "type", "bridge"});
    run_in("switch", {"ip", "link", "set", "bridge", "up"});
    for (int host = 0; host < count; ++host) add(host);
  }
  ~Hosts() {
    for (const std::string& one : names_) run_quietly({"ip", "netns", "del", one});
  }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  static bool possible() {
    const std::string probe = "margay" + std::to_string(getpid()) + "probe";
    const bool made =
        run_quietly({"ip", "netns", "add", probe}).exit_code == 0 &&
        run_quietly({"ip", "netns", "exec", probe, "ip", "link", "add", "bridge", "type", "bridge"})
                .exit_code == 0;
    run_quietly({"ip", "netns", "del", probe});
    return made;
  }

  static std::string address(int host) { return "10.73.9." + std::to_string(host + 1); }
  // What stands before a command that runs there.
  std::vector<std::string> at(int host) const {
    return {"/usr/bin/env", "ip", "netns", "exec", name(std::to_string(host))};
  }
  // The same, where the names of hosts are those of this file.
  std::vector<std::string> at(int host, const std::string& names) const {
    std::vector<std::string> wrapper = at(host);
    wrapper.insert(wrapper.end(),
                   {"sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\"", names});
    return wrapper;
  }
  void cut_off(int host) const {
    run_in("switch", {"ip", "link", "set", "port" + std::to_string(host), "down"});
  }

 private:
  // The program may be missing.
  static Finished run_quietly(const std::vector<std::string>& command) {
    std::vector<std::string> all{"/usr/bin/env"};
    all.insert(all.end(), command.begin(), command.end());
    return run_program(all, "/");
  }
  std::string name(const std::string& what) const {
    return "margay" + std::to_string(getpid()) + what;
  }
  void ip(const std::vector<std::string>& arguments) {
    std::vector<std::string> command{"ip"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Finished f = run_quietly(command);
    if (f.exit_code != 0) throw std::runtime_error("ip: " + f.error);
    if (arguments[0] == "netns") names_.push_back(arguments[2]);
  }
  void run_in(const std::string& host, const std::vector<std::string>& command) const {
    std::vector<std::string> all{"ip", "netns", "exec", name(host)};
    all.insert(all.end(), command.begin(), command.end());
    const Finished f = run_quietly(all);
    if (f.exit_code != 0) throw std::runtime_error(command[0] + ": " + f.error);
  }
  void add(int host) {
    const std::string number = std::to_string(host);
    ip({"netns", "add", name(number)});
    if (containers_) {
      run_in(number, {"ip", "link", "add", "docker0", "type", "bridge"});
      run_in(number, {"ip", "address", "add", "172.17." + number + ".1/24", "dev", "docker0"});
      run_in(number, {"ip", "link", "set", "docker0", "up"});
    }
    run_in("switch", {"ip", "link", "add", "port" + number, "type", "veth", "peer", "name", "wire",
                      "netns", name(number)});
    run_in("switch", {"ip", "link", "set", "port" + number, "master", "bridge", "up"});
    run_in(number, {"ip", "link", "set", "lo", "up"});
    run_in(number, {"ip", "address", "add", address(host) + "/24", "dev", "wire"});
    run_in(number, {"ip", "link", "set", "wire", "up"});
    if (containers_) run_in(number, {"ip", "route", "add", "default", "dev", "wire"});
  }

  const bool containers_;
  std::vector<std::string> names_;
};

class RanksOnHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (!Hosts::possible()) MARGAY_SKIP_FOR_WANT_OF("netns", "root and iproute2");
    make_long_enough(reference_);
    ASSERT_EQ(reference_.match().exit_code, 0);
  }
  static void make_long_enough(SmallSearch& search) {
    search.sections["orientation_search_config"] = "{psi_step: 6, theta_step: 12, symmetry: C1}";
  }
  void expect_same_maps(const SmallSearch& search) const {
    EXPECT_TRUE(map_pixels(search) == map_pixels(reference_)) << "the maps differ";
  }

  SmallSearch reference_;
};

TEST_F(RanksOnHosts, MeetByAddressOrByTheSharedFileAlone) {
  const Hosts hosts(3);
  for (const std::string& place : {Hosts::address(0) + ":23000", std::string()}) {
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search, {.ranks = 4,
                             .wrappers = {hosts.at(0), hosts.at(1), hosts.at(2), hosts.at(1)},
                             .rendezvous = place,
                             .timeout = "30s"});
    for (const Finished& f : group.wait()) EXPECT_EQ(f.exit_code, 0) << f.error;
    expect_same_maps(search);
  }
}

// As on a Debian host, whose own name is 127.0.1.1 there.
TEST_F(RanksOnHosts, MeetAlthoughRankZerosNeighboursReachItByAnAddressOfItsHostAlone) {
  const Hosts hosts(2);
  SmallSearch search;
  make_long_enough(search);
  const std::vector<std::string> names{search.file("names0"), search.file("names1")};
  std::ofstream(names[0]) << "127.0.0.1 localhost\n127.0.1.1 head\n";
  std::ofstream(names[1]) << "127.0.0.1 localhost\n" << Hosts::address(0) << " head\n";
  RankGroup group(search, {.ranks = 4,
                           .wrappers = {hosts.at(0, names[0]), hosts.at(0, names[0]),
                                        hosts.at(1, names[1]), hosts.at(1, names[1])},
                           .rendezvous = "head:23000",
                           .timeout = "10s"});
  for (const Finished& f : group.wait()) EXPECT_EQ(f.exit_code, 0) << f.error;
  expect_same_maps(search);
}

TEST_F(RanksOnHosts, MeetAlthoughTheFirstAddressOfAHostIsOneThatNobodyElseReaches) {
  const Hosts hosts(2, true);
  SmallSearch search;
  make_long_enough(search);
  RankGroup group(search, {.ranks = 4,
                           .wrappers = {hosts.at(0), hosts.at(0), hosts.at(1), hosts.at(1)},
                           .timeout = "10s"});
  for (const Finished& f : group.wait()) EXPECT_EQ(f.exit_code, 0) << f.error;
  expect_same_maps(search);
}

TEST_F(RanksOnHosts, AHostThatIsCutOffEndsAllOfThem) {
  std::mt19937 random(11);
  for (int i = 0; i < repetitions(5, 50); ++i) {
    const Hosts hosts(3);
    SmallSearch search;
    make_long_enough(search);
    RankGroup group(search,
                    {.ranks = 3,
                     .options = {"--checkpoint", "search.mgc", "--checkpoint-every", "50ms"},
                     .wrappers = {hosts.at(0), hosts.at(1), hosts.at(2)}});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    hosts.cut_off(1 + static_cast<int>(random() % 2));
    const std::vector<Finished> ends = group.wait();
    if (ends[0].exit_code == 0) continue;  // the search had ended before
    EXPECT_EQ(ends[0].exit_code, 70) << ends[0].error;
    EXPECT_THAT(ends[0].error, HasSubstr("was lost"));
    for (const Finished& f : ends) EXPECT_NE(f.exit_code, 0);
  }
}

TEST_F(RanksOnHosts, TheOthersGoOnWithoutAHostThatIsCutOff) {
  std::mt19937 random(12);
  for (int i = 0; i < repetitions(5, 50); ++i) {
    const Hosts hosts(3);
    SmallSearch search;
    make_long_enough(search);
    // Some are cut off while statistics are merged.
    RankGroup group(search, {.ranks = 3,
                             .options = {"--on-rank-loss", "continue", "--checkpoint-every", "5ms"},
                             .wrappers = {hosts.at(0), hosts.at(1), hosts.at(2)}});
    ASSERT_TRUE(becomes_true([&] { return group.works(); }));
    const int victim = 1 + static_cast<int>(random() % 2);
    hosts.cut_off(victim);
    const std::vector<Finished> ends = group.wait();
    for (int rank = 0; rank < 3; ++rank) {
      if (rank == victim) continue;
      EXPECT_EQ(ends[static_cast<size_t>(rank)].exit_code, 0) << ends[0].error;
    }
    expect_same_maps(search);
  }
}

}  // namespace
}  // namespace tests
