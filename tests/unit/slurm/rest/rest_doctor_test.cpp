// What `margay doctor` learns of a Slurm behind slurmrestd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "slurm/rest/rest_cluster.h"
#include "tests/unit/slurm/rest/rest_site.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;
using Level = Finding::Level;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

class RestExamineTest : public RestSite {
 protected:
  RestExamineTest() {
    serve("/slurm/v0.0.38/ping", {{"pings", {{{"hostname", "c1"}, {"ping", "UP"}}}}});
    serve("/slurm/v0.0.38/diag", {{"statistics", {{"req_time", kNow}}}});
    serve("/slurm/v0.0.38/partitions",
          {{"partitions",
            {{{"name", "gpu"}, {"state", "UP"}}, {{"name", "old"}, {"state", "DOWN"}}}}});
    serve("/slurm/v0.0.38/nodes", {{"nodes", {{{"name", "n01"}, {"gres", "gpu:4"}}}}});
    serve("/slurmdb/v0.0.38/qos", {{"QOS", {{{"name", "normal"}}}}});
    serve("/slurmdb/v0.0.38/associations", {{"associations",
                                             {{{"user", "alice"}, {"account", "research"}},
                                              {{"user", "bob"}, {"account", "physics"}}}}});
  }

  void serve(const std::string& path, const Json& body) {
    answers_[path] = [body](const auto&) { return json(with_meta(body)); };
  }
  std::vector<Finding> examine(const Examination& what = {}) {
    return make_rest_cluster(options())->examine(what);
  }
  static auto finding(Level level, const std::string& subject, const std::string& says) {
    return Contains(AllOf(Field(&Finding::level, level), Field(&Finding::subject, subject),
                          Field(&Finding::says, HasSubstr(says))));
  }
};

TEST_F(RestExamineTest, AGoodSiteHasNothingToMend) {
  renew_token("one", kNow + 7200);
  const auto findings =
      examine({.partitions = {"gpu"}, .accounts = {"research"}, .qos = {"normal"}, .gpus = true});
  for (const Finding& one : findings) {
    EXPECT_EQ(one.level, Level::kGood) << one.subject << ": " << one.says;
    EXPECT_EQ(one.advice, "") << one.subject;
  }
  EXPECT_THAT(findings, finding(Level::kGood, "slurmrestd", "API v0.0.38"));
  EXPECT_THAT(findings, finding(Level::kGood, "controller", "Slurm 22.05.8"));
  EXPECT_THAT(findings, finding(Level::kGood, "token", "valid for 2 h"));
  EXPECT_THAT(findings, finding(Level::kGood, "user", "alice"));
  EXPECT_THAT(findings, finding(Level::kGood, "clock", "0 s"));
  EXPECT_THAT(findings, finding(Level::kGood, "partition 'gpu'", "exists"));
  EXPECT_THAT(findings, finding(Level::kGood, "account 'research'", "exists"));
  EXPECT_THAT(findings, finding(Level::kGood, "QOS 'normal'", "exists"));
  EXPECT_THAT(findings, finding(Level::kGood, "GPUs", "1 nodes with 4 GPUs"));
  EXPECT_THAT(findings, finding(Level::kGood, "limits", "MinJobAge"));
}

TEST_F(RestExamineTest, NamesThatDoNotExistAreNamedWithThoseThatDo) {
  const auto findings =
      examine({.partitions = {"gpus"}, .accounts = {"physics"}, .qos = {"urgent"}});
  EXPECT_THAT(findings, finding(Level::kBad, "partition 'gpus'", "gpu, old"));
  EXPECT_THAT(findings, finding(Level::kBad, "account 'physics'", "research"));
  EXPECT_THAT(findings, finding(Level::kBad, "QOS 'urgent'", "normal"));
}

TEST_F(RestExamineTest, APartitionThatIsDownIsAWarning) {
  EXPECT_THAT(examine({.partitions = {"old"}}),
              finding(Level::kWarning, "partition 'old'", "DOWN"));
}

TEST_F(RestExamineTest, WhatAShapeAsksForIsComparedWithThePartition) {
  serve("/slurm/v0.0.38/partitions", {{"partitions",
                                       {{{"name", "gpu"},
                                         {"state", "UP"},
                                         {"flags", {"default"}},
                                         {"max_time_limit", 60},
                                         {"total_nodes", 1}}}}});
  serve("/slurm/v0.0.38/nodes", {{"nodes",
                                  {{{"name", "n01"},
                                    {"gres", "gpu:4"},
                                    {"cpus", 16},
                                    {"real_memory", 64000},
                                    {"partitions", {"gpu"}}}}}});
  EXPECT_THAT(examine({.shapes = {{.shape = "gpu", .minutes = 61, .gpus = 8}}}),
              finding(Level::kBad, "shape gpu", "its MaxTime is 60 min, asks for 8 GPUs a node"));
  EXPECT_THAT(examine({.shapes = {{.shape = "gpu", .minutes = 60, .gpus = 4}}}),
              finding(Level::kGood, "shape gpu", "partition 'gpu'"));
}

TEST_F(RestExamineTest, WhatAShapeAsksForIsComparedWithItsQosAndAssociation) {
  serve(
      "/slurmdb/v0.0.38/qos",
      {{"QOS",
        {{{"name", "normal"}},
         {{"name", "brief"}, {"limits", {{"max", {{"wall_clock", {{"per", {{"job", 2}}}}}}}}}}}}});
  const Json gpu = {{"type", "gres"}, {"name", "gpu"}, {"id", 1001}, {"count", 1}};
  serve("/slurmdb/v0.0.38/associations", {{"associations",
                                           {{{"user", "alice"},
                                             {"account", "research"},
                                             {"is_default", 1},
                                             {"max", {{"tres", {{"per", {{"job", {gpu}}}}}}}}}}}});
  ShapeNeeds shape{.shape = "gpu", .partitions = {"gpu"}, .minutes = 5, .gpus = 1};
  EXPECT_THAT(examine({.shapes = {shape}}), finding(Level::kGood, "shape gpu", "'gpu'"));
  shape.qos = "brief";
  EXPECT_THAT(examine({.shapes = {shape}}),
              finding(Level::kWarning, "shape gpu", "asks for 5 min, and MaxWall of QOS 'brief'"));
  shape.qos = "";
  shape.gpus = 2;
  EXPECT_THAT(examine({.shapes = {shape}}),
              finding(Level::kWarning, "shape gpu", "alice's association with account 'research'"));
}

TEST_F(RestExamineTest, AssociationsOfSeveralClustersLimitNothingAndAreAWarning) {
  const auto of = [](const char* cluster) {
    return Json{{"user", "alice"},
                {"account", "research"},
                {"cluster", cluster},
                {"max", {{"jobs", {{"per", {{"wall_clock", 1}}}}}}}};
  };
  serve("/slurmdb/v0.0.38/associations", {{"associations", {of("here"), of("there")}}});
  const auto findings =
      examine({.shapes = {{.shape = "gpu", .partitions = {"gpu"}, .minutes = 5, .gpus = 1}}});
  EXPECT_THAT(findings, finding(Level::kGood, "shape gpu", "'gpu'"));
  EXPECT_THAT(findings, finding(Level::kWarning, "limits of QOS and associations", "here, there"));
}

TEST_F(RestExamineTest, AccountingIsAskedAsOftenForAnyNumberOfShapes) {
  const auto asked_for = [&](const Examination& what) {
    const size_t before = server_.requests().size();
    examine(what);
    return server_.requests().size() - before;
  };
  const ShapeNeeds shape{.shape = "gpu", .partitions = {"gpu"}, .qos = "normal"};
  const size_t none = asked_for({});
  EXPECT_EQ(asked_for({.accounts = {"research"}, .shapes = {shape, shape, shape}}), none);
}

TEST_F(RestExamineTest, AWrongVersionIsBadWithThoseThatAreOffered) {
  answers_["/openapi/v3"] = [](const auto&) {
    return Answer{.body = R"({"paths":{"\/slurm\/v0.0.38\/job\/submit":{}}})"};
  };
  RestClusterOptions site = options();
  site.api_version = "v0.0.40";
  EXPECT_THAT(make_rest_cluster(site)->examine({}),
              finding(Level::kBad, "slurmrestd", "it offers v0.0.38"));
}

TEST_F(RestExamineTest, ARefusedTokenIsTheOnlyFault) {
  answers_["/slurm/v0.0.38/"] = [](const auto&) {
    return Answer{.status = 401, .body = "Authentication failure"};
  };
  answers_.erase("/slurm/v0.0.38/ping");
  const auto findings = examine({.partitions = {"gpu"}});
  EXPECT_THAT(findings, finding(Level::kBad, "token", "not accepted"));
  const auto bad = std::count_if(findings.begin(), findings.end(),
                                 [](const Finding& one) { return one.level == Level::kBad; });
  EXPECT_EQ(bad, 1);
}

TEST_F(RestExamineTest, ATokenThatIsRefusedAtOnceGivesNoAdviceOnTheAddress) {
  accepted_token_ = "another";
  for (const Finding& one : examine()) {
    EXPECT_THAT(one.advice, testing::Not(HasSubstr("slurm.url"))) << one.subject;
  }
}

TEST_F(RestExamineTest, MinJobAgeIsJudgedByTheDaemonsPoll) {
  EXPECT_THAT(examine({.poll = std::chrono::seconds(20)}),
              finding(Level::kGood, "limits", "MinJobAge should be 60 s"));
}

TEST_F(RestExamineTest, AccountingThatIsOffIsAWarning) {
  RestClusterOptions off = options();
  off.accounting = Accounting::kOff;
  EXPECT_THAT(make_rest_cluster(off)->examine({}),
              finding(Level::kWarning, "accounting", "not asked (slurm.accounting: off)"));
}

TEST_F(RestExamineTest, AccountsThatCannotBeReadAreAWarning) {
  answers_["/slurmdb/v0.0.38/associations"] = [](const auto&) {
    return json(error(7000, "Access denied"), 500);
  };
  const auto findings = examine({.accounts = {"research"}});
  EXPECT_THAT(findings, finding(Level::kWarning, "account", "cannot be checked"));
}

TEST_F(RestExamineTest, WithoutAccountingItsNamesCannotBeChecked) {
  offers_accounting_ = false;
  EXPECT_THAT(examine({.accounts = {"research"}}),
              finding(Level::kWarning, "account", "cannot be checked"));
}

TEST_F(RestExamineTest, ATokenAboutToExpireIsAWarning) {
  renew_token("one", kNow + 600);
  EXPECT_THAT(examine(), finding(Level::kWarning, "token", "expires in 10 min"));
}

TEST_F(RestExamineTest, AnExpiredTokenIsBadAndNothingIsAsked) {
  renew_token("one", kNow - 1);
  const auto findings = examine();
  EXPECT_THAT(findings, finding(Level::kBad, "token", "expired on"));
  EXPECT_THAT(findings, finding(Level::kBad, "slurmrestd", "expired on"));
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(RestExamineTest, ATokenFileThatOthersReadIsAWarning) {
  const RestClusterOptions all_may = options();
  fs::permissions(folder_ / "token", fs::perms::others_read, fs::perm_options::add);
  const auto findings = make_rest_cluster(all_may)->examine({});
  EXPECT_THAT(findings, finding(Level::kWarning, "token", "other users"));
  EXPECT_THAT(findings, Contains(Field(&Finding::advice, "chmod 600 " + (folder_ / "token"))));
}

TEST_F(RestExamineTest, AnAdministratorsTokenIsAWarning) {
  const RestClusterOptions site = options();
  fs::remove(folder_ / "token");
  folder_.write("token", token_of("root", kNow + 7200));
  EXPECT_THAT(make_rest_cluster(site)->examine({}), finding(Level::kWarning, "token", "root"));
}

TEST_F(RestExamineTest, AFileThatHoldsNoTokenIsBad) {
  const RestClusterOptions site = options();
  fs::remove(folder_ / "token");
  folder_.write("token", "hello");
  EXPECT_THAT(make_rest_cluster(site)->examine({}),
              finding(Level::kBad, "token", "does not hold a JSON Web Token"));
}

TEST_F(RestExamineTest, ClocksApartAreAWarning) {
  now_ = kNow + 31;
  EXPECT_THAT(examine(), finding(Level::kWarning, "clock", "31 s behind"));
  now_ = kNow - 31;
  EXPECT_THAT(examine(), finding(Level::kWarning, "clock", "31 s ahead"));
}

TEST_F(RestExamineTest, TheServersDateStandsInForTheControllersClock) {
  answers_["/slurm/v0.0.38/diag"] = [](const auto&) {
    return Answer{.body = "{}", .more_headers = "Date: Tue, 14 Nov 2023 22:14:20 GMT\r\n"};
  };
  EXPECT_THAT(examine(), finding(Level::kWarning, "clock", "60 s ahead"));
}

TEST_F(RestExamineTest, AControllerThatIsDownIsBad) {
  answers_["/slurm/v0.0.38/ping"] = [](const auto&) {
    return json({{"pings", {{{"hostname", "c1"}, {"pinged", "DOWN"}}}}});
  };
  const auto findings = examine();
  EXPECT_THAT(findings, Contains(AllOf(Field(&Finding::level, Level::kBad),
                                       Field(&Finding::subject, "controller"))));
}

TEST_F(RestExamineTest, NoGpusAreBadWhereJobsWantThem) {
  serve("/slurm/v0.0.38/nodes", {{"nodes", {{{"name", "n01"}, {"gres", ""}}}}});
  EXPECT_THAT(examine({.gpus = true}), finding(Level::kBad, "GPUs", "0 GPUs"));
  EXPECT_THAT(examine({.gpus = false}), finding(Level::kGood, "GPUs", "0 GPUs"));
}

TEST_F(RestExamineTest, AVersionKnownFromDocumentsAloneIsAWarning) {
  versions_ = {"v0.0.44"};
  EXPECT_THAT(examine(), finding(Level::kWarning, "slurmrestd", "from its documents"));
}

TEST_F(RestExamineTest, SlurmrestdThatIsNotThereIsBad) {
  RestClusterOptions nowhere = options();
  nowhere.http.url = "http://127.0.0.1:" + std::to_string(tests::closed_port());
  EXPECT_THAT(make_rest_cluster(nowhere)->examine({}),
              finding(Level::kBad, "slurmrestd", "cannot be reached"));
}

TEST_F(RestExamineTest, ATokenOverTheNetworkInTheClearIsAWarning) {
  RestClusterOptions remote = options();
  remote.http.url = "http://slurm.invalid:6820";
  EXPECT_THAT(make_rest_cluster(remote)->examine({}),
              finding(Level::kWarning, "slurmrestd's address", "unencrypted"));
}

TEST_F(RestExamineTest, SlurmdbdThatIsDownIsBad) {
  answers_["/slurmdb/v0.0.38/qos"] = [](const auto&) {
    return json(error(7000, "Unable to connect to database"), 500);
  };
  EXPECT_THAT(examine(), finding(Level::kBad, "accounting", "Unable to connect to database"));
}

}  // namespace
}  // namespace slurm
