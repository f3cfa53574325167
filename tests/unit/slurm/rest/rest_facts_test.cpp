// What a look at the cluster asks of slurmrestd, and what it makes of the answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "slurm/cluster_facts.h"
#include "slurm/rest/rest_cluster.h"
#include "tests/unit/slurm/rest/rest_site.h"

namespace slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// In the shapes of the version that the test asks for.
class RestFacts : public RestSite, public testing::WithParamInterface<std::string> {
 protected:
  RestFacts() {
    versions_ = {GetParam()};
    offers_accounting_ = false;
    answers_[path("nodes")] = [this](const auto&) { return json(with_meta({{"nodes", nodes_}})); };
    answers_[path("partitions")] = [this](const auto&) {
      return json(with_meta({{"partitions", {partition("main"), partition("side")}}}));
    };
    nodes_ = {node("n1", "gpu:a100:4", "gpu:a100:3(IDX:0-2)"), node("n2", "gpu:a100:4", "gpu:0")};
    jobs_ = {job(1, "margay-test-1-a1", "RUNNING", {{"nodes", "n1"}, {"gres", 2}}),
             job(2, "someone's", "PENDING", {{"priority", 7}, {"start_time", kNow + 60}}),
             job(3, "someone's", "PENDING", {{"priority", 9}}), job(4, "someone's", "COMPLETED")};
  }

  bool is_old() const { return GetParam() == "v0.0.38"; }
  std::string path(const std::string& what) const { return "/slurm/" + GetParam() + "/" + what; }
  Json number(int64_t value) const {
    if (is_old()) return value;
    return {{"set", true}, {"infinite", false}, {"number", value}};
  }

  Json node(const std::string& name, const std::string& gres, const std::string& used) const {
    Json made = {{"name", name},     {"gres", gres},          {"gres_used", used},
                 {"cpus", 16},       {"alloc_cpus", 4},       {"real_memory", 64000},
                 {"reason", "fans"}, {"partitions", {"main"}}};
    if (is_old()) {
      made["state"] = "mixed";
      made["state_flags"] = {"DRAIN"};
    } else {
      made["state"] = {"MIXED", "DRAIN"};
    }
    if (name == "n1") return made;
    made["state"] = is_old() ? Json("idle") : Json::array({"IDLE"});
    made["state_flags"] = Json::array();
    return made;
  }

  Json partition(const std::string& name) const {
    if (is_old()) {
      return {{"name", name},         {"flags", {"default"}}, {"default_time_limit", 60},
              {"max_time_limit", 90}, {"priority_tier", 3},   {"state", "UP"}};
    }
    return {{"name", name},
            {"defaults", {{"time", number(60)}}},
            {"maximums", {{"time", number(90)}}},
            {"priority", {{"tier", 3}}},
            {"partition", {{"state", {"UP"}}}}};
  }

  Json job(int id, const std::string& name, const std::string& state,
           const Json& more = Json::object()) const {
    Json made = RestSite::job(id, name, state);
    if (!is_old()) made["job_state"] = {state};
    made["partition"] = "main";
    made["user_name"] = "ann";
    made["node_count"] = number(1);
    made["cpus"] = number(4);
    made["time_limit"] = number(30);
    made["end_time"] = number(kNow + 600);
    made["nodes"] = more.value("nodes", "");
    made["priority"] = number(more.value("priority", 1));
    made["start_time"] = number(more.value("start_time", int64_t{0}));
    const int gpus = more.value("gres", 0);
    made["tres_req_str"] = "cpu=4,gres/gpu=" + std::to_string(gpus);
    if (gpus > 0) made["gres_detail"] = {"gpu:" + std::to_string(gpus) + "(IDX:0-1)"};
    return made;
  }

  size_t requests() const { return server_.requests().size(); }

  std::vector<Json> nodes_;
};

TEST_P(RestFacts, ShowNodesPartitionsAndEverybodysJobs) {
  const auto cluster = make_rest_cluster(options());
  const ClusterFacts facts = cluster->facts();
  ASSERT_TRUE(facts.complete) << facts.problem;
  EXPECT_EQ(facts.site.now, kNow);
  const auto& nodes = facts.site.nodes.value->each;
  ASSERT_THAT(nodes, SizeIs(2));
  EXPECT_EQ(nodes[0].use, NodeUse::kDrained);
  EXPECT_EQ(nodes[0].words, "DRAIN+MIXED");
  EXPECT_EQ(nodes[0].reason, "fans");
  EXPECT_EQ(nodes[0].gpus, 4);
  EXPECT_EQ(nodes[0].gpus_busy, 3);
  EXPECT_EQ(nodes[0].gpu_kinds.at("a100").busy, 3);
  EXPECT_EQ(nodes[0].cpus_busy, 4);
  EXPECT_EQ(nodes[1].use, NodeUse::kUsable);
  EXPECT_EQ(nodes[1].gpus_busy, 0);
  const PartitionFacts& main = facts.site.partitions.value->at("main");
  EXPECT_EQ(main.default_minutes, 60);
  EXPECT_EQ(main.most_minutes, 90);
  EXPECT_EQ(main.priority_tier, 3);
  EXPECT_EQ(main.state, "UP");
  ASSERT_THAT(facts.running, SizeIs(1));
  const QueuedJob& ours = facts.running[0];
  EXPECT_TRUE(ours.ours);
  EXPECT_EQ(ours.status.name, "margay-test-1-a1");
  EXPECT_EQ(ours.limit_end, kNow + 600);
  EXPECT_EQ(ours.limit_minutes, 30);
  EXPECT_THAT(ours.gpus_by_node, ElementsAre(2));
  EXPECT_EQ(ours.node_list, "n1");
  ASSERT_THAT(facts.waiting, SizeIs(2));
  EXPECT_EQ(facts.waiting[0].status.job_id, "3") << "by priority";
  EXPECT_EQ(facts.waiting[1].expected_start, kNow + 60);
  EXPECT_FALSE(facts.waiting[1].ours);
  EXPECT_EQ(facts.waiting[1].user, "ann");
  EXPECT_EQ(facts.waiting[1].partitions, Names{"main"});
  EXPECT_THAT(facts.unseen, UnorderedElementsAre(Key("n1"), Key("n2")));
  EXPECT_THAT(facts.unseen.at("n1").gpus, ElementsAre(kNow)) << "three are busy, our job has two";
}

TEST_P(RestFacts, CostTwoRequestsBesideTheListingThatIsMadeAllTheSame) {
  const auto cluster = make_rest_cluster(options());
  cluster->states();
  cluster->facts();  // the one listing beyond: the first had none of the others
  for (int i = 0; i < 3; ++i) {
    pass(10'000);
    const size_t before = requests();
    EXPECT_TRUE(cluster->states().fresh);
    const ClusterFacts facts = cluster->facts();
    EXPECT_TRUE(facts.complete) << facts.problem;
    EXPECT_THAT(facts.waiting, SizeIs(2));
    EXPECT_EQ(requests() - before, 3U);
  }
  for (int i = 0; i < 500; ++i) jobs_.push_back(job(10 + i, "someone's", "RUNNING"));
  pass(10'000);
  const size_t before = requests();
  cluster->states();
  EXPECT_THAT(cluster->facts().running, SizeIs(501));
  EXPECT_EQ(requests() - before, 3U) << "however many jobs there are";
}

// Whoever gets a fresh listing concludes from it that a job is gone.
TEST_P(RestFacts, NeverMakeAnOldListingLookFresh) {
  const auto cluster = make_rest_cluster(options());
  cluster->facts();
  EXPECT_TRUE(cluster->states().fresh);
  pass(5'000);
  cluster->facts();
  EXPECT_FALSE(cluster->states().fresh);
  EXPECT_THAT(asked("GET", path("jobs")), SizeIs(2));
}

TEST_P(RestFacts, ReadNothingOfOthersUntilTheyAreWanted) {
  jobs_.push_back(job(9, "someone's", "RUNNING"));
  jobs_.back()["job_id"] = 0;
  const auto cluster = make_rest_cluster(options());
  EXPECT_TRUE(cluster->states().complete);
  EXPECT_TRUE(cluster->facts().complete) << "a job of somebody else's that cannot be read";
}

TEST_P(RestFacts, SayWhatIsMissing) {
  const auto cluster = make_rest_cluster(options());
  ASSERT_TRUE(cluster->facts().complete);
  const auto fails = [](const auto&) { return json(error(1800, "gone"), 500); };
  for (const char* what : {"jobs", "nodes", "partitions"}) {
    const auto usual = answers_;
    answers_[path(what)] = fails;
    const ClusterFacts facts = cluster->facts();
    EXPECT_FALSE(facts.complete) << what;
    EXPECT_THAT(facts.problem, testing::StartsWith(std::string(what) + ": "));
    EXPECT_THAT(facts.unseen, SizeIs(2)) << "as it was known last";
    answers_ = usual;
    pass(10'000);
  }
  EXPECT_TRUE(cluster->facts().complete);
}

TEST_P(RestFacts, AreNotAskedForBeyondTheAllowance) {
  RestClusterOptions few = options();
  few.requests_per_minute = 30;
  const auto cluster = make_rest_cluster(few);
  cluster->states();
  const size_t before = requests();
  const ClusterFacts facts = cluster->facts();
  EXPECT_FALSE(facts.complete);
  EXPECT_THAT(facts.problem, HasSubstr("requests_per_minute"));
  EXPECT_EQ(requests(), before);
  pass(60'000);
  EXPECT_TRUE(cluster->facts().complete);
}

TEST_P(RestFacts, RememberSinceWhenHiddenJobsAreBusy) {
  jobs_.clear();
  const auto cluster = make_rest_cluster(options());
  EXPECT_THAT(cluster->facts().unseen.at("n1").gpus, ElementsAre(kNow, kNow, kNow));
  pass(60'000);
  now_ += 60;
  nodes_[1] = node("n2", "gpu:a100:4", "gpu:a100:1(IDX:0)");
  nodes_[0] = node("n1", "gpu:a100:4", "gpu:a100:4(IDX:0-3)");
  const ClusterFacts facts = cluster->facts();
  EXPECT_THAT(facts.unseen.at("n1").gpus, ElementsAre(kNow, kNow, kNow, kNow + 60));
  EXPECT_THAT(facts.unseen.at("n2").gpus, ElementsAre(kNow + 60));
}

TEST_P(RestFacts, SayThatLimitsAreUnknownWithoutAccounting) {
  const auto cluster = make_rest_cluster(options());
  const ClusterFacts facts = cluster->facts_with_limits();
  EXPECT_TRUE(facts.complete);
  EXPECT_THAT(facts.limits_problem, HasSubstr("no accounting (slurmdbd)"));
  EXPECT_THAT(asked("GET", "/slurmdb/"), IsEmpty());
}

TEST_P(RestFacts, AskForNoLimitsUnlessTheyAreWanted) {
  offers_accounting_ = true;
  const auto cluster = make_rest_cluster(options());
  const ClusterFacts facts = cluster->facts();
  EXPECT_TRUE(facts.complete) << facts.problem;
  EXPECT_FALSE(facts.site.qos.value);
  EXPECT_EQ(facts.limits_problem, "they were not asked for");
  EXPECT_THAT(asked("GET", "/slurmdb/"), IsEmpty());
}

TEST_P(RestFacts, AskForLimitsOnceAnHour) {
  offers_accounting_ = true;
  const auto answers = [this](const std::string& what, const std::string& text) {
    answers_["/slurmdb/" + GetParam() + "/" + what] = [text](const auto&) {
      return Answer{.body = text};
    };
  };
  answers("qos",
          is_old() ? R"({"QOS": [{"name": "normal"}]})" : R"({"qos": [{"name": "normal"}]})");
  answers("associations",
          R"({"associations": [{"account": "lab", "user": "alice", "is_default": true}]})");
  const auto cluster = make_rest_cluster(options());
  const ClusterFacts facts = cluster->facts_with_limits();
  EXPECT_EQ(facts.limits_problem, "");
  EXPECT_THAT(*facts.site.qos.value, ElementsAre(Key("normal")));
  EXPECT_EQ(facts.site.associations.value->default_account, "lab");
  for (int i = 0; i < 5; ++i) {
    pass(11 * 60'000);
    EXPECT_EQ(cluster->facts_with_limits().limits_problem, "") << "they are kept";
  }
  EXPECT_THAT(asked("GET", "/slurmdb/"), SizeIs(2));
  pass(6 * 60'000);
  cluster->facts_with_limits();
  EXPECT_THAT(asked("GET", "/slurmdb/"), SizeIs(4));
}

TEST_P(RestFacts, AskForLimitsAgainSoonAfterAFailure) {
  offers_accounting_ = true;
  answers_["/slurmdb/"] = [](const auto&) { return json(error(2000, "no database"), 500); };
  const auto cluster = make_rest_cluster(options());
  EXPECT_NE(cluster->facts_with_limits().limits_problem, "");
  EXPECT_TRUE(cluster->facts_with_limits().complete) << "nodes and jobs are known all the same";
  EXPECT_THAT(asked("GET", "/slurmdb/"), SizeIs(1));
  pass(5 * 60'000);
  cluster->facts_with_limits();
  EXPECT_THAT(asked("GET", "/slurmdb/"), SizeIs(2));
}

INSTANTIATE_TEST_SUITE_P(Versions, RestFacts, testing::Values("v0.0.38", "v0.0.40", "v0.0.42"),
                         [](const auto& test) { return test.param.substr(5); });

}  // namespace
}  // namespace slurm
