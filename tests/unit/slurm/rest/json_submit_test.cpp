// What each version of the API is sent.
#include <gtest/gtest.h>

#include "base/json.h"
#include "slurm/rest/json.h"

namespace slurm {
namespace {

using Json = nlohmann::json;

JobRequest request() {
  return {.name = "margay-a1b2-7-a1",
          .comment = R"({"item":7})",
          .script = "#!/bin/bash\necho \"\xc3\xa9\"\n",
          .directory = "/data/jobs/7/1",
          .output_path = "/data/jobs/7/1/100%/output.txt",
          .environment = {{"HOME", "/home/alice"}, {"PATH", "/usr/bin:/bin"}},
          .hold = false};
}

Resources everything() {
  Resources resources;
  resources.time_minutes = 90;
  resources.partition = "gpu";
  resources.qos = "normal";
  resources.account = "research";
  resources.reservation = "beamtime";
  resources.constraint = "a100";
  resources.licenses = "em:1";
  resources.mail_user = "alice";
  resources.mail_type = "END,TIME_LIMIT_90";
  resources.min_nodes = 2;
  resources.max_nodes = 4;
  resources.tasks = 8;
  resources.tasks_per_node = 4;
  resources.cpus_per_task = 6;
  resources.memory_per_node_mb = 64000;
  resources.gres = "gpu:4";
  resources.exclusive = "exclusive";
  resources.nodelist = "n[05-06,08],n09";
  resources.exclude = "n01";
  resources.error_path = "/data/jobs/7/1/error-%j.txt";
  resources.signal_name = "USR1";
  resources.signal_delay = 120;
  resources.nice = 10;
  resources.begin = "now+1hour";
  return resources;
}

Json body(ApiVersion version, const Resources& resources = everything(),
          const JobRequest& of = request()) {
  return Json::parse(submit_body(version, of, resources));
}

const std::vector<ApiVersion> kLater = {ApiVersion::kV40, ApiVersion::kV41, ApiVersion::kV42,
                                        ApiVersion::kV43, ApiVersion::kV44};

TEST(SubmitBody, EveryVersionGetsWhatIsMargaysOwn) {
  for (const ApiVersion version : api_versions()) {
    SCOPED_TRACE(word_of(version));
    const Json job = body(version).at("job");
    EXPECT_EQ(job.at("name"), "margay-a1b2-7-a1");
    EXPECT_EQ(job.at("comment"), R"({"item":7})");
    EXPECT_EQ(job.at("current_working_directory"), "/data/jobs/7/1");
    // Slurm would replace %/ and the like.
    EXPECT_EQ(job.at("standard_output"), "/data/jobs/7/1/100%%/output.txt");
    EXPECT_EQ(job.at("standard_error"), "/data/jobs/7/1/error-%j.txt");
    EXPECT_EQ(job.at("dependency"), "singleton");
    EXPECT_EQ(job.at("nodes"), "2-4");
    EXPECT_EQ(job.at("tasks"), 8);
    EXPECT_FALSE(job.contains("argv"));
    EXPECT_FALSE(job.contains("hold"));
    EXPECT_FALSE(job.contains("kill_on_node_fail"));
    EXPECT_FALSE(job.contains("test_only"));
  }
}

TEST(SubmitBody, OfV38HasExactlyTheFieldsThatItKnows) {
  const Json expected = Json::parse(R"({
    "script": "#!/bin/bash\necho \"é\"\n",
    "job": {
      "name": "margay-a1b2-7-a1", "comment": "{\"item\":7}",
      "current_working_directory": "/data/jobs/7/1",
      "standard_output": "/data/jobs/7/1/100%%/output.txt",
      "standard_error": "/data/jobs/7/1/error-%j.txt",
      "environment": {"HOME": "/home/alice", "PATH": "/usr/bin:/bin"},
      "no_requeue": true, "dependency": "singleton",
      "time_limit": 90, "partition": "gpu", "qos": "normal", "account": "research",
      "reservation": "beamtime", "constraints": "a100", "licenses": "em:1",
      "mail_user": "alice", "mail_type": "END,TIME_LIMIT_90", "nodes": "2-4", "tasks": 8,
      "tasks_per_node": 4, "cpus_per_task": 6, "memory_per_node": 64000, "gres": "gpu:4",
      "exclusive": "exclusive", "nodelist": "n[05-06,08],n09", "exclude_nodes": "n01",
      "signal": "USR1@120", "nice": 10, "begin_time": "now+1hour"
    }})");
  EXPECT_EQ(body(ApiVersion::kV38), expected) << body(ApiVersion::kV38).dump(1);
}

TEST(SubmitBody, OfLaterVersionsHasExactlyTheFieldsThatTheyObey) {
  Json job = Json::parse(R"({
      "name": "margay-a1b2-7-a1", "comment": "{\"item\":7}",
      "current_working_directory": "/data/jobs/7/1",
      "standard_output": "/data/jobs/7/1/100%%/output.txt",
      "standard_error": "/data/jobs/7/1/error-%j.txt",
      "environment": ["HOME=/home/alice", "PATH=/usr/bin:/bin"],
      "requeue": false, "dependency": "singleton",
      "time_limit": {"set": true, "infinite": false, "number": 90},
      "partition": "gpu", "qos": "normal", "account": "research",
      "reservation": "beamtime", "constraints": "a100", "licenses": "em:1",
      "mail_user": "alice", "mail_type": ["END", "TIME=90%"], "nodes": "2-4", "tasks": 8,
      "tasks_per_node": 4, "cpus_per_task": 6,
      "memory_per_node": {"set": true, "infinite": false, "number": 64000},
      "tres_per_node": "gres/gpu:4", "shared": ["none"],
      "required_nodes": ["n[05-06,08]", "n09"], "excluded_nodes": ["n01"],
      "kill_warning_signal": "USR1",
      "kill_warning_delay": {"set": true, "infinite": false, "number": 120},
      "nice": 10, "begin_time": "now+1hour"
    })");
  const Json v40 = {{"script", request().script}, {"job", job}};
  EXPECT_EQ(body(ApiVersion::kV40), v40) << body(ApiVersion::kV40).dump(1);
  job["script"] = request().script;
  for (const ApiVersion version : kLater) {
    if (version == ApiVersion::kV40) continue;
    EXPECT_EQ(body(version), (Json{{"job", job}})) << word_of(version);
  }
}

TEST(SubmitBody, ASilentlyIgnoredGresIsNeverSent) {
  Resources resources;
  resources.gres = "gpu:a100:2,nvme:1";
  resources.gpus = "a100:8";
  resources.gpus_per_task = "1";
  for (const ApiVersion version : kLater) {
    const Json job = body(version, resources).at("job");
    EXPECT_FALSE(job.contains("gres"));
    EXPECT_FALSE(job.contains("gpus"));
    EXPECT_EQ(job.at("tres_per_node"), "gres/gpu:a100:2,gres/nvme:1");
    EXPECT_EQ(job.at("tres_per_job"), "gres/gpu:a100:8");
    EXPECT_EQ(job.at("tres_per_task"), "gres/gpu:1");
  }
  const Json job = body(ApiVersion::kV38, resources).at("job");
  EXPECT_EQ(job.at("gres"), "gpu:a100:2,nvme:1");
  EXPECT_EQ(job.at("gpus"), "a100:8");
  EXPECT_EQ(job.at("gpus_per_task"), "1");
}

TEST(SubmitBody, GpusPerNodeStandBesideOtherGres) {
  Resources resources;
  resources.gres = "nvme:1";
  resources.gpus_per_node = "4";
  EXPECT_EQ(body(ApiVersion::kV42, resources).at("job").at("tres_per_node"),
            "gres/nvme:1,gres/gpu:4");
  EXPECT_EQ(body(ApiVersion::kV38, resources).at("job").at("gpus_per_node"), "4");
}

TEST(SubmitBody, WhatIsNotAskedForIsNotSent) {
  for (const ApiVersion version : api_versions()) {
    Json job = body(version, {}).at("job");
    for (const char* key : {"name", "comment", "current_working_directory", "standard_output",
                            "environment", "dependency", "script", "requeue", "no_requeue"}) {
      job.erase(key);
    }
    EXPECT_TRUE(job.empty()) << word_of(version) << job;
  }
}

TEST(SubmitBody, NoTimeLimitIsSaidAsSuch) {
  Resources resources;
  resources.time_minutes = -1;
  EXPECT_EQ(body(ApiVersion::kV38, resources).at("job").at("time_limit"), -1);
  for (const ApiVersion version : kLater) {
    EXPECT_EQ(body(version, resources).at("job").at("time_limit"), (Json{{"infinite", true}}));
  }
}

TEST(SubmitBody, AnEnvironmentIsNeverEmpty) {
  JobRequest bare = request();
  bare.environment.clear();
  EXPECT_TRUE(body(ApiVersion::kV38, {}, bare).at("job").at("environment").contains("PATH"));
  for (const ApiVersion version : kLater) {
    EXPECT_EQ(body(version, {}, bare).at("job").at("environment").size(), 1u);
  }
}

TEST(SubmitBody, AHeldJobIsHeld) {
  JobRequest held = request();
  held.hold = true;
  for (const ApiVersion version : api_versions()) {
    EXPECT_EQ(body(version, {}, held).at("job").at("hold"), true);
  }
  EXPECT_EQ(Json::parse(release_body()), (Json{{"hold", false}}));
}

TEST(SubmitBody, SecondsSinceTheEpochAreATextForV38) {
  Resources resources;
  resources.begin = "1795260516";
  resources.deadline = "1795264056";
  Json job = body(ApiVersion::kV38, resources).at("job");
  EXPECT_EQ(job.at("begin_time"), "uts1795260516");
  EXPECT_EQ(job.at("deadline"), "uts1795264056");
  job = body(ApiVersion::kV42, resources).at("job");
  EXPECT_EQ(job.at("begin_time").at("number"), 1795260516);
  EXPECT_EQ(job.at("begin_time").at("set"), true);
  EXPECT_EQ(job.at("deadline"), 1795264056);
}

TEST(SubmitBody, OneNumberOfNodesIsOneNumber) {
  Resources resources;
  resources.min_nodes = 2;
  EXPECT_EQ(body(ApiVersion::kV38, resources).at("job").at("nodes"), "2");
  resources.max_nodes = 2;
  EXPECT_EQ(body(ApiVersion::kV42, resources).at("job").at("nodes"), "2");
}

TEST(SubmitBody, BytesThatAreNoUtf8AreRefusedWithTheJobsName) {
  JobRequest latin = request();
  latin.script += "cd /data/\xe9\n";
  try {
    submit_body(ApiVersion::kV42, latin, {});
    FAIL() << "was taken";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("margay-a1b2-7-a1"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("UTF-8"), std::string::npos);
  }
}

TEST(Versions, AreKnownByTheirWords) {
  for (const ApiVersion version : api_versions()) {
    EXPECT_EQ(parse_api_version(word_of(version)), version);
  }
  EXPECT_EQ(api_versions().front(), ApiVersion::kV44);
  EXPECT_EQ(parse_api_version("v0.0.39"), std::nullopt);
  EXPECT_TRUE(was_seen(ApiVersion::kV38));
  EXPECT_TRUE(was_seen(ApiVersion::kV42));
  EXPECT_FALSE(was_seen(ApiVersion::kV43));
  EXPECT_FALSE(was_seen(ApiVersion::kV44));
}

TEST(Versions, AddressesAreAsTheDocumentsHaveThem) {
  EXPECT_EQ(submit_path(ApiVersion::kV38), "/slurm/v0.0.38/job/submit");
  EXPECT_EQ(jobs_path(ApiVersion::kV42), "/slurm/v0.0.42/jobs");
  EXPECT_EQ(job_path(ApiVersion::kV40, "12"), "/slurm/v0.0.40/job/12");
  EXPECT_EQ(job_path(ApiVersion::kV40, "../x"), "/slurm/v0.0.40/job/..%2Fx");
  EXPECT_EQ(signal_path(ApiVersion::kV41, "12", "USR1"), "/slurm/v0.0.41/job/12?signal=USR1");
  EXPECT_EQ(accounting_jobs_path(ApiVersion::kV38, "margay-a:b,c"),
            "/slurmdb/v0.0.38/jobs?job_name=margay-a%3Ab%2Cc&skip_steps=true");
}

TEST(Versions, WhatIsOfferedIsReadFromTheDocument) {
  const std::string openapi = R"({"paths": {
    "/slurm/v0.0.38/job/submit": {}, "/slurmdb/v0.0.38/jobs": {},
    "/slurm/v0.0.40/job/submit": {}, "/slurmdb/v0.0.41/jobs/": {},
    "/slurm/v0.0.99/job/submit": {}}})";
  const std::map<ApiVersion, bool> expected = {{ApiVersion::kV38, true}, {ApiVersion::kV40, false}};
  EXPECT_EQ(offered_versions(openapi), expected);
  EXPECT_TRUE(offered_versions("no JSON").empty());
  EXPECT_TRUE(offered_versions("[]").empty());
}

}  // namespace
}  // namespace slurm
