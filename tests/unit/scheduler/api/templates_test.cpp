#include <gmock/gmock.h>

#include <filesystem>

#include "base/sha256.h"
#include "tests/unit/scheduler/api/api_test_fixture.h"

namespace scheduler {
namespace {

using api::Descriptor;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(ApiTest, ATemplateHasTheCountsOfTheEngine) {
  count_ = [](const CountQuestion& question) {
    EXPECT_EQ(question.volume_sha256, base::sha256_of_text("volume"));
    EXPECT_EQ(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(question.volume)),
              question.volume_path);
    return CountAnswer{
        .counts = {.engine = "1.0", .orientations = 1596, .defocus_planes = 13, .pixel_sizes = 1}};
  };
  register_template();
  const json counts = get("/v1/templates").at("templates").at(0).at("counts");
  EXPECT_EQ(counts.at("orientations"), 1596);
  EXPECT_EQ(counts.at("engine"), "1.0");
  const Outcome again = margay({"template", "add", file("ribosome.mrc"), "--name", "ribosome",
                                "--config", file("search.yaml")});
  EXPECT_THAT(again.out, AllOf(HasSubstr("is already registered"),
                               HasSubstr("search   1,596 orientations x 13 defocus planes\n")));
}

TEST_F(ApiTest, ATemplateThatTheEngineRefusesIsNotRegistered) {
  count_ = [](const CountQuestion& question) {
    return CountAnswer{.refused = "'" + question.settings_name + "': psi_step is wrong"};
  };
  const Outcome refused = margay({"template", "add", write("v.mrc"), "--name", "v", "--config",
                                  write("search.yaml", search_settings())});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(refused.error, "margay: '" + file("search.yaml") + "': psi_step is wrong\n");
  EXPECT_EQ(get("/v1/templates").at("templates").size(), 0U);
}

TEST_F(ApiTest, ATemplateThatNoEngineCheckedIsRegisteredWithAWarningAndCountedLater) {
  count_ = [](const CountQuestion&) { return CountAnswer{.unchecked = "cannot start engine"}; };
  const std::vector<std::string> command = {"template",
                                            "add",
                                            write("v.mrc"),
                                            "--name",
                                            "v",
                                            "--config",
                                            write("search.yaml", search_settings())};
  const Outcome added = margay(command);
  EXPECT_EQ(added.exit, 0);
  EXPECT_THAT(
      added.error,
      AllOf(HasSubstr("warning: the template is registered, but the engine could not check"),
            HasSubstr(": cannot start engine; run `margay template add` again")));
  EXPECT_TRUE(get("/v1/templates").at("templates").at(0).at("counts").is_null());
  count_ = [](const CountQuestion&) {
    return CountAnswer{.counts = {.engine = "1.0", .orientations = 7}};
  };
  EXPECT_EQ(margay(command).error, "");
  const json templates = get("/v1/templates").at("templates");
  ASSERT_EQ(templates.size(), 1U);
  EXPECT_EQ(templates.at(0).at("counts").at("orientations"), 7);
}

TEST_F(ApiTest, ATemplateIsKnownByTheBytesOfTheFileThatWasPassed) {
  register_template();
  const json record = get("/v1/templates").at("templates").at(0);
  EXPECT_EQ(record.at("name"), "ribosome");
  EXPECT_EQ(record.at("volume_sha256"), base::sha256_of_text("volume"));
  const std::string volume = write("other.mrc", "other");
  const Descriptor file = open_file(volume);
  const json body = {
      {"name", "ribosome"}, {"path", volume}, {"file", 0}, {"search_yaml", search_settings()}};
  EXPECT_EQ(post("/v1/templates", body, {file.get()}).at("template").at("version"), 2);
  json broken = body;
  broken["search_yaml"] = "a: [";
  EXPECT_EQ(post("/v1/templates", broken, {file.get()}).at("error").at("kind"), "invalid");
  broken["search_yaml"] = search_settings() + "x: &x [*x]\n";
  EXPECT_THAT(
      post("/v1/templates", broken, {file.get()}).at("error").at("message"),
      HasSubstr("'search_yaml' line 12: an alias there stands for a value that contains it"));
  const Outcome refused = margay({"template", "add", volume, "--name", "cyclic", "--config",
                                  write("cyclic.yaml", "a: 1\nx: &x [*x]\n")});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.error, HasSubstr("cyclic.yaml' line 2: an alias there stands for"));
}

}  // namespace
}  // namespace scheduler
