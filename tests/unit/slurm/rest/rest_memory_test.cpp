// A listing of 5,000 jobs is 16 MB and more: it must go by without staying.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "slurm/rest/rest_cluster.h"
#include "tests/unit/slurm/rest/rest_site.h"

namespace slurm {
namespace {

// In kB; the highest since the last reset.
int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
  }
  return 0;
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

class RestMemoryTest : public RestSite {
 protected:
  static constexpr int kOurs = 5000;

  // Objects as long as real ones (3.1 kB each in 22.05).
  static std::string listing() {
    std::string text = R"({"meta":{"Slurm":{"release":"22.05.8"}},"errors":[],"jobs":[)";
    Json one = job(0, "", "PENDING");
    one["standard_output"] = std::string(3300, 'x');
    for (int i = 1; i <= kOurs; ++i) {
      one["job_id"] = i;
      one["name"] = "margay-test-" + std::to_string(i) + "-a1";
      text += (i == 1 ? "" : ",\n") + one.dump(1);
    }
    return text + "]}";
  }
};

TEST_F(RestMemoryTest, AListingOfFiveThousandJobsIsNotHeldInMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers keep what was freed";
#endif
  const std::string text = listing();
  ASSERT_GT(text.size(), 16'000'000u);
  answers_["/slurm/v0.0.38/jobs"] = [&](const auto&) { return Answer{.shared_body = &text}; };
  const auto cluster = make_rest_cluster(options());
  cluster->nodes();  // whatever is made once
  reset_peak();
  const int64_t before = peak_memory();
  const Snapshot snapshot = cluster->states();
  const int64_t grown = peak_memory() - before;
  ASSERT_TRUE(snapshot.complete) << snapshot.problem;
  EXPECT_EQ(snapshot.jobs.size(), static_cast<size_t>(kOurs));
  RecordProperty("listing_kb", static_cast<int>(text.size() / 1024));
  RecordProperty("grown_kb", static_cast<int>(grown));
  EXPECT_LT(grown, static_cast<int64_t>(text.size() / 1024) / 2);
}

}  // namespace
}  // namespace slurm
