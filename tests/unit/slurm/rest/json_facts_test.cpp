// Partitions, nodes, QOS, associations and the release as real slurmrestds gave them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "slurm/cluster_facts.h"
#include "slurm/rest/json.h"
#include "slurm/rest/json_values.h"
#include "tests/unit/slurm/recorded.h"
#include "tests/unit/slurm/recorded_look.h"

namespace slurm {
namespace {

std::map<std::string, std::string> states_of(const std::string& body) {
  std::map<std::string, std::string> states;
  for (const auto& [name, partition] : parse_partitions(body)) states[name] = partition.state;
  return states;
}

// As the document of v0.0.42 has it.
constexpr const char* kLaterPartitions = R"({"partitions": [
    {"name": "main", "nodes": {"total": 16}, "partition": {"state": ["UP"]},
     "accounts": {"allowed": "research,physics", "deny": ""}, "qos": {"allowed": "", "deny": "low", "assigned": "gpu"},
     "maximums": {"time": {"set": true, "infinite": false, "number": 5},
                  "nodes": {"set": true, "infinite": false, "number": 4},
                  "cpus_per_node": {"set": false, "infinite": true, "number": 0}}},
    {"name": "long", "nodes": {"total": 1}, "partition": {"state": ["DRAIN"]},
     "maximums": {"time": {"set": false, "infinite": true, "number": 0}}}]})";

TEST(NumberOf, IsOneThatCanBeMultiplied) {
  EXPECT_EQ(number_of(Json::parse("5")), 5);
  EXPECT_EQ(number_of(Json::parse("5.5")), 5);
  EXPECT_EQ(number_of(Json::parse("\"-5\"")), -5);
  EXPECT_EQ(number_of(Json::parse(R"({"set": true, "infinite": false, "number": 4294967295})")),
            4294967295);
  for (const char* text :
       {"9000000000000001", "-9000000000000001", "1e16", "18446744073709551615",
        "\"9223372036854775807\"", R"({"set": true, "number": 9223372036854775807})"}) {
    EXPECT_EQ(number_of(Json::parse(text)), std::nullopt) << text;
  }
}

TEST(Facts, PartitionsAreReadInBothShapes) {
  using Partitions = std::map<std::string, std::string>;
  EXPECT_EQ(states_of(tests::recorded_answer("22.05", "partitions").body),
            (Partitions{{"main", "UP"}, {"short", "UP"}, {"closed", "DOWN"}}));
  EXPECT_EQ(states_of(kLaterPartitions), (Partitions{{"main", "UP"}, {"long", "DRAIN"}}));
}

TEST(Facts, LimitsOfPartitionsAreReadInBothShapes) {
  const auto old = parse_partitions(tests::recorded_answer("22.05", "partitions").body);
  EXPECT_TRUE(old.at("main").is_default);
  EXPECT_FALSE(old.at("short").is_default);
  EXPECT_EQ(old.at("main").most_minutes, std::nullopt);
  EXPECT_EQ(old.at("main").most_nodes, std::nullopt);
  EXPECT_EQ(old.at("main").nodes, 16);
  EXPECT_EQ(old.at("main").accounts, Names{});
  EXPECT_EQ(old.at("short").most_minutes, 5);
  EXPECT_EQ(old.at("short").most_nodes, 4);
  const auto later = parse_partitions(kLaterPartitions);
  EXPECT_EQ(later.at("main").most_minutes, 5);
  EXPECT_EQ(later.at("main").most_nodes, 4);
  EXPECT_EQ(later.at("main").most_cpus, std::nullopt);
  EXPECT_EQ(later.at("main").nodes, 16);
  EXPECT_EQ(later.at("main").accounts, (Names{"physics", "research"}));
  EXPECT_EQ(later.at("main").denied_qos, Names{"low"});
  EXPECT_EQ(later.at("main").own_qos, "gpu");
  EXPECT_EQ(later.at("long").most_minutes, std::nullopt);
}

TEST(Facts, NodesAndTheirGpusAreCounted) {
  const NodeTotals old = parse_node_totals(tests::recorded_answer("22.05", "nodes").body);
  EXPECT_EQ(old.nodes, 2);
  EXPECT_EQ(old.gpus, 8);
  EXPECT_EQ(old.each.at(0).cpus, 16);
  EXPECT_EQ(old.each.at(0).memory_mb, 64'000);
  EXPECT_EQ(old.each.at(0).gpus, 4);
  EXPECT_EQ(old.each.at(0).partitions, (Names{"closed", "main", "short"}));
  const NodeTotals later = parse_node_totals(R"({"nodes": [
    {"name": "n01", "state": ["IDLE", "DRAIN"], "gres": "gpu:a100:4(S:0-1),nvme:1"},
    {"name": "n02", "state": ["DOWN"], "gres": ""}]})");
  EXPECT_EQ(later.nodes, 2);
  EXPECT_EQ(later.gpus, 4);
}

std::string recorded_look(const std::string& release, const std::string& what) {
  return nlohmann::json::parse(tests::recorded_text(release + "/look.json")).at(what).dump();
}

TEST(Facts, ALookIsReadAlikeFromEachVersion) {
  for (const std::string release : {"22.05", "24.11"}) {
    SCOPED_TRACE(release);
    ClusterFacts facts;
    facts.site.nodes.value = parse_node_totals(recorded_look(release, "nodes"));
    facts.site.partitions.value = parse_partitions(recorded_look(release, "partitions"));
    std::vector<QueuedJob> jobs;
    JobListing listing(
        [&](const std::string& job) { jobs.push_back(parse_queued_job(job).value()); });
    listing.feed(recorded_look(release, "jobs"));
    ASSERT_TRUE(listing.whole());
    set_jobs(jobs, facts);
    tests::expect_recorded_nodes(*facts.site.nodes.value);
    tests::expect_recorded_jobs(facts);
    EXPECT_THAT(tests::job_named(facts.running, "other").gpus_by_node, testing::ElementsAre(1, 1));
  }
  tests::expect_recorded_nodes(parse_node_totals(recorded_look("24.11", "nodes of v0.0.40")));
}

TEST(Facts, PartitionsSayHowLongAJobMayRunAndWhichGoFirst) {
  for (const auto& [release, what] : std::vector<std::pair<std::string, std::string>>{
           {"22.05", "partitions"}, {"24.11", "partitions"}, {"24.11", "partitions of v0.0.40"}}) {
    const auto partitions = parse_partitions(recorded_look(release, what));
    EXPECT_EQ(partitions.at("main").default_minutes, 60) << release;
    EXPECT_EQ(partitions.at("main").most_minutes, std::nullopt);
    EXPECT_EQ(partitions.at("short").default_minutes, 1);
    EXPECT_EQ(partitions.at("short").most_minutes, 5);
    EXPECT_EQ(partitions.at("short").most_nodes, 4);
    EXPECT_EQ(partitions.at("closed").state, "DOWN");
    EXPECT_EQ(partitions.at("main").priority_tier, 1);
  }
}

TEST(Facts, QosAreReadWithTheirLimits) {
  for (const std::string release : {"22.05", "24.11"}) {
    const QosByName all = parse_qos(tests::recorded_answer(release, "qos with limits").body);
    ASSERT_EQ(all.size(), 2U) << release;
    const JobLimits none = all.at("normal").limits;
    EXPECT_EQ(none.most_minutes, std::nullopt);
    EXPECT_EQ(none.most_submitted, std::nullopt);
    EXPECT_TRUE(none.of_job.empty() && none.of_node.empty() && none.of_user.empty());
    const QosFacts& brief = all.at("brief");
    EXPECT_EQ(brief.limits.most_minutes, 2) << release;
    EXPECT_EQ(brief.limits.of_job, (Tres{{"cpu", 8}, {"mem", 8192}, {"node", 1}, {"gres/gpu", 2}}));
    EXPECT_EQ(brief.limits.of_node, (Tres{{"cpu", 4}}));
    EXPECT_EQ(brief.limits.of_user, (Tres{{"cpu", 16}, {"gres/gpu", 4}}));
    EXPECT_EQ(brief.limits.of_all, (Tres{{"node", 3}, {"gres/gpu", 8}}));
    EXPECT_EQ(brief.limits.most_submitted, 5);
    EXPECT_TRUE(brief.lifts_time && brief.lifts_nodes && brief.over_partition) << release;
    EXPECT_FALSE(all.at("normal").over_partition);
  }
}

TEST(Facts, AssociationsOfTheUserAndOfAccountsAreReadWithTheirLimits) {
  for (const std::string release : {"22.05", "24.11"}) {
    const std::string body = tests::recorded_answer(release, "associations").body;
    const AssociationFacts facts = parse_associations(body, "nobody");
    EXPECT_EQ(facts.default_account, "research") << release;
    EXPECT_EQ(accounts_of(facts, "nobody"), (Names{"lab", "research"}));
    EXPECT_EQ(accounts_of(facts, "games"), Names{}) << "another user's";
    EXPECT_EQ(clusters_of(facts), (Names{"bed"}));
    const auto of = [&](const std::string& account, const std::string& user) {
      return *std::find_if(facts.all.begin(), facts.all.end(), [&](const Association& one) {
        return one.account == account && one.user == user;
      });
    };
    EXPECT_EQ(of("lab", "").parent, "research");
    EXPECT_EQ(of("lab", "").limits.most_minutes, 60);
    EXPECT_EQ(of("lab", "").limits.of_all, (Tres{{"gres/gpu", 2}}));
    const Association own = of("lab", "nobody");
    EXPECT_EQ(own.partition, "main");
    EXPECT_EQ(own.qos, (Names{"brief", "normal"}));
    EXPECT_EQ(own.limits.most_minutes, 1450);
    EXPECT_EQ(own.limits.of_job, (Tres{{"cpu", 4}}));
    EXPECT_EQ(own.limits.of_all, (Tres{{"cpu", 9}, {"mem", 1048576}}));
    EXPECT_EQ(own.limits.most_submitted, 7);
    EXPECT_EQ(of("research", "nobody").default_qos, "normal");
    EXPECT_EQ(of("research", "nobody").limits.most_submitted, std::nullopt);
  }
}

TEST(Facts, OfSeveralClustersOnlyTheOneThatTheAnswerNamesCounts) {
  const std::string two = R"("associations": [
    {"cluster": "a", "account": "lab", "user": "alice", "is_default": true},
    {"cluster": "b", "account": "far", "user": "alice", "is_default": true}]})";
  const AssociationFacts named =
      parse_associations(R"({"meta": {"slurm": {"cluster": "a"}}, )" + two, "alice");
  EXPECT_EQ(accounts_of(named, "alice"), (Names{"lab"}));
  EXPECT_EQ(named.default_account, "lab");
  EXPECT_EQ(clusters_of(parse_associations("{" + two, "alice")), (Names{"a", "b"}));
}

TEST(Facts, TheReleaseIsReadFromAnyAnswer) {
  EXPECT_EQ(slurm_release(tests::recorded_answer("22.05", "ping").body), "22.05.8");
  EXPECT_EQ(slurm_release(tests::recorded_answer("24.11", "ping").body), "24.11.5");
  EXPECT_EQ(slurm_release("Authentication failure"), "");
}

}  // namespace
}  // namespace slurm
