// Listings of jobs, however they are cut.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.h"
#include "slurm/rest/json.h"
#include "tests/unit/slurm/recorded.h"

namespace slurm {
namespace {

using Json = nlohmann::json;

struct Read {
  std::vector<std::string> jobs;
  bool whole = false;
  std::string rest;
};

Read read(const std::vector<std::string>& pieces) {
  Read result;
  JobListing listing([&](const std::string& job) { result.jobs.push_back(job); });
  for (const std::string& piece : pieces) listing.feed(piece);
  result.whole = listing.whole();
  result.rest = listing.rest();
  return result;
}

const char* const kListing = R"({ "meta": {"slurm": {"release": "24.11.5"}, "jobs": ["no"]},
  "a": "jobs", "errors": [], "jobs": [ {"job_id": 1, "name": "a}]\"{[", "more": {"x": [1, {}]}},
  {"job_id": 2, "name": "\\"} , {"job_id":3}], "last_update": {"number": 5}, "warnings": []}
)";

TEST(JobListing, WherePiecesEndDoesNotMatter) {
  const std::string listing = kListing;
  const Read whole = read({listing});
  ASSERT_EQ(whole.jobs.size(), 3u);
  EXPECT_TRUE(whole.whole);
  EXPECT_EQ(Json::parse(whole.jobs[0]).at("name"), "a}]\"{[");
  EXPECT_EQ(Json::parse(whole.jobs[1]).at("name"), "\\");
  std::vector<std::string> bytes;
  for (const char c : listing) bytes.emplace_back(1, c);
  EXPECT_EQ(read(bytes).jobs, whole.jobs);
  for (size_t at = 0; at <= listing.size(); ++at) {
    const Read two = read({listing.substr(0, at), listing.substr(at)});
    ASSERT_EQ(two.jobs, whole.jobs) << at;
    ASSERT_TRUE(two.whole) << at;
    ASSERT_EQ(two.rest, whole.rest) << at;
  }
}

TEST(JobListing, TheRestIsTheDocumentWithoutJobs) {
  const Json rest = Json::parse(read({kListing}).rest);
  EXPECT_EQ(rest.at("jobs"), Json::array());
  EXPECT_EQ(rest.at("last_update").at("number"), 5);
  EXPECT_EQ(slurm_release(read({kListing}).rest), "24.11.5");
}

TEST(JobListing, ACutListingIsNeverWhole) {
  const std::string listing = kListing;
  const size_t end = listing.rfind('}');
  for (size_t length = 0; length <= end; ++length) {
    ASSERT_FALSE(read({listing.substr(0, length)}).whole) << length;
  }
}

TEST(JobListing, RecordedListingsSurviveEveryCut) {
  for (const std::string release : {"22.05", "24.11"}) {
    const std::string listing = tests::recorded_text(release + "/jobs.json");
    const Read whole = read({listing});
    ASSERT_TRUE(whole.whole);
    EXPECT_EQ(whole.jobs.size(), Json::parse(listing).at("jobs").size());
    // Every byte would take minutes: the short listing above is cut at each.
    for (size_t at = 0; at <= listing.size(); at += 1009) {
      ASSERT_EQ(read({listing.substr(0, at), listing.substr(at)}).jobs, whole.jobs) << at;
    }
  }
}

TEST(JobListing, ADocumentWithoutJobsIsNotWhole) {
  EXPECT_FALSE(read({R"({"errors": []})"}).whole);
  EXPECT_FALSE(read({R"({"jobs": null})"}).whole);
  EXPECT_FALSE(read({R"({"jobs": {}})"}).whole);
  EXPECT_FALSE(read({R"({"meta": {"jobs": []}})"}).whole);
  EXPECT_FALSE(read({R"([{"jobs": []}])"}).whole);
  EXPECT_FALSE(read({"Authentication failure"}).whole);
  EXPECT_FALSE(read({R"({"jobs": []} {)"}).whole);
  EXPECT_FALSE(read({R"({"jobs": [null]})"}).whole);
  EXPECT_FALSE(read({R"({"jobs": [[{}]]})"}).whole);
  EXPECT_TRUE(read({R"({"jobs": []})"}).whole);
}

TEST(JobListing, AnObjectBeyondAnySenseIsRefused) {
  JobListing listing([](const std::string&) {});
  listing.feed(R"({"jobs": [{"x": ")");
  const std::string piece(1 << 20, 'x');
  EXPECT_THROW(
      {
        for (int i = 0; i < 20; ++i) listing.feed(piece);
      },
      std::runtime_error);
}

}  // namespace
}  // namespace slurm
