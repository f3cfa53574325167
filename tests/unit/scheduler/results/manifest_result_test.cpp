#include "scheduler/results/manifest_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/sha256.h"
#include "db/templates.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using testing::HasSubstr;

class ResultsTest : public DaemonFixture {
 protected:
  ResultsTest() {
    enqueue("a.mrc");
    tick();
    attempt_ = attempt(1);
    leave_manifest(attempt_);
  }
  ManifestReading read() {
    return read_manifest(attempt_, db::TemplateStore(*database_).list()[0], 77);
  }
  void replace(const std::string& from, const std::string& to) {
    const std::string path = attempt_.directory + "/manifest.json";
    std::string text = tests::text_of(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(path) << text;
  }

  db::Attempt attempt_;
};

TEST_F(ResultsTest, AWholeManifestIsAccepted) {
  const ManifestReading reading = read();
  EXPECT_EQ(reading.witness, ManifestWitness::kAccepted) << reading.problem;
  EXPECT_EQ(reading.result.correlations, 1000);
  EXPECT_EQ(reading.result.peaks_csv, attempt_.directory + "/peaks.csv");
  EXPECT_EQ(reading.result.stored, 77);
}

TEST_F(ResultsTest, NoManifestIsNoEvidence) {
  std::filesystem::remove(attempt_.directory + "/manifest.json");
  EXPECT_EQ(read().witness, ManifestWitness::kAbsent);
}

TEST_F(ResultsTest, ADamagedOneIsRefused) {
  replace("{", "");
  EXPECT_EQ(read().witness, ManifestWitness::kRefused);
  EXPECT_THAT(read().problem, HasSubstr("damaged"));
}

TEST_F(ResultsTest, AFieldThatIsMissingOrMistypedIsSaidInPlainWords) {
  const std::string path = attempt_.directory + "/manifest.json";
  for (const char* text : {"\"text\"", "{\"format\":\"one\"}", "{}", "{"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(read().witness, ManifestWitness::kRefused);
    EXPECT_THAT(read().problem, testing::AllOf(HasSubstr("'" + path + "'"), HasSubstr("damaged"),
                                               testing::Not(HasSubstr("exception"))));
  }
}

TEST_F(ResultsTest, OneNestedTooDeepIsRefusedUnparsed) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  replace("{", "{\"deep\":" + deep + ",");
  EXPECT_EQ(read().witness, ManifestWitness::kRefused);
  EXPECT_THAT(read().problem, HasSubstr("nests lists and objects in more than 64 levels"));
}

TEST_F(ResultsTest, WhatIsNoFileOrLongerThanAManifestIsRefusedUnread) {
  const std::string path = attempt_.directory + "/manifest.json";
  std::filesystem::resize_file(path, uintmax_t{8} << 30);
  EXPECT_THAT(read().problem, HasSubstr("is longer than 4.2 MB"));
  std::filesystem::rename(path, attempt_.directory + "/other.json");
  std::filesystem::create_symlink("other.json", path);
  EXPECT_THAT(read().problem, HasSubstr("is a symbolic link"));
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read().problem, "its manifest '" + path + "' is not a regular file");
  EXPECT_EQ(read().witness, ManifestWitness::kRefused);
}

TEST_F(ResultsTest, WhatTheEngineDidNotWriteReportsNoProgress) {
  const std::string path = attempt_.directory + "/progress.json";
  std::ofstream(path) << R"({"done":7})";
  EXPECT_EQ(done_units(attempt_.directory), 7);
  for (const char* number : {"7.5", "1e27", "18446744073709551615", "-7"}) {
    std::ofstream(path) << R"({"done":)" << number << "}";
    EXPECT_EQ(done_units(attempt_.directory), 0) << number;
  }
  std::ofstream(path) << std::string(30'000, '[');
  EXPECT_EQ(done_units(attempt_.directory), 0);
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(done_units(attempt_.directory), 0);
}

TEST_F(ResultsTest, AnotherConfigurationIsRefused) {
  replace(attempt_.config_sha256, std::string(64, '0'));
  EXPECT_THAT(read().problem, HasSubstr("another configuration"));
}

TEST_F(ResultsTest, AnotherTemplateVolumeIsRefused) {
  replace(base::sha256_of_text("volume"), std::string(64, '0'));
  EXPECT_THAT(read().problem, HasSubstr("another template volume"));
}

TEST_F(ResultsTest, ANewerFormatIsRefused) {
  replace("\"format\":1", "\"format\":2");
  EXPECT_THAT(read().problem, HasSubstr("format"));
}

TEST_F(ResultsTest, CountsThatNoSearchHasAreRefused) {
  const std::string path = attempt_.directory + "/manifest.json";
  const auto whole = nlohmann::json::parse(tests::text_of(path));
  for (const char* number : {"-1", "1e27", "0.5", "18446744073709551615"}) {
    for (const auto& [part, key] : {std::pair("counts", "correlations"), {"peaks", "count"}}) {
      nlohmann::json manifest = whole;
      manifest[part][key] = nlohmann::json::parse(number);
      std::ofstream(path) << manifest.dump();
      EXPECT_EQ(read().witness, ManifestWitness::kRefused) << key << " " << number;
      EXPECT_THAT(read().problem, testing::AnyOf(HasSubstr("a negative number of peaks"),
                                                 HasSubstr("a number out of range")));
    }
  }
}

TEST_F(ResultsTest, AMapThatIsMissingOrCutShortIsRefused) {
  std::ofstream(attempt_.directory + "/psi.mrc") << "x";
  EXPECT_THAT(read().problem, HasSubstr("psi.mrc, which has another size"));
  std::filesystem::remove(attempt_.directory + "/psi.mrc");
  EXPECT_THAT(read().problem, HasSubstr("psi.mrc, which is not there"));
}

TEST(LastError, IsWhatTheEngineSaidLast) {
  EXPECT_EQ(last_error("margay-engine: m.mrc: 500 x 384 pixels\n10 %\nmargay-engine: 'm' is cut\n"),
            "'m' is cut");
  EXPECT_EQ(last_error("margay-engine: 'two\nlines.mrc' is cut short\n\n"),
            "'two\nlines.mrc' is cut short");
}

TEST(LastError, WithoutTheEngineIsTheLastLine) {
  EXPECT_EQ(last_error("first\njob.sh: line 9: /opt/margay-engine: No such file\n\n"),
            "job.sh: line 9: /opt/margay-engine: No such file");
  EXPECT_EQ(last_error("[##  ] 50 %\r[####] 100 %\rKilled\n"), "Killed");
  EXPECT_EQ(last_error(" \n"), "");
  EXPECT_EQ(last_error(""), "");
}

}  // namespace
}  // namespace scheduler
