#include "scheduler/script/engine_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <set>

namespace scheduler {
namespace {

using testing::HasSubstr;

const std::string kSearch = R"(
micrograph_path: old.mrc
template_volume_path: old_template.mrc
optics_group:
  label: "0123"
  pixel_size: 1.06
  voltage: 300.0
  spherical_aberration: 2.7
  defocus_u: 1.0
  even_zernikes: null
defocus_search_config: {enabled: true, defocus_min: -400.0, defocus_max: 400.0, defocus_step: 200}
orientation_search_config:
  - {psi_step: 3.0, symmetry: C1}
  - {psi_step: 2.5, symmetry: "O"}
computational_config:
  gpu_ids: ["0", 1]
match_template_result:
  mip_path: somewhere/else.mrc
  total_projections: 5
)";

EngineInput input_for(const std::string& micrograph) {
  return {.search_yaml = kSearch,
          .template_path = "/data/template.mrc",
          .micrograph_path = micrograph,
          .ctf = {.defocus_u = 10200.125,
                  .defocus_v = 9800,
                  .astigmatism_angle = -35.5,
                  .phase_shift = 90},
          .folder = "/state/jobs/1/a1"};
}

TEST(EngineConfig, StrangePathsComeBackAsTheyWere) {
  for (const std::string path :
       {"/data/plain.mrc", "/data/two words.mrc", "/data/it's \"x\".mrc", "/data/line\nbreak.mrc",
        "/data/ü 漢.mrc", "/data/: #&*!|>%@`{}[],?-.mrc", "/data/tab\t\\n.mrc", "/data/ end ",
        "/data/\x01\x7f.mrc", "/data/{{name}}", "null", "~", "0123", "/data/\u2028\u0085.mrc"}) {
    EngineInput input = input_for(path);
    input.folder = "/st ate'\n" + path;
    input.template_path = path + "t";
    const YAML::Node config = YAML::Load(engine_config(input));
    EXPECT_EQ(config["micrograph_path"].as<std::string>(), path);
    EXPECT_EQ(config["template_volume_path"].as<std::string>(), path + "t");
    EXPECT_EQ(config["match_template_result"]["mip_path"].as<std::string>(),
              input.folder + "/mip.mrc");
  }
}

TEST(EngineConfig, TheHashesOfTheRegisteredFilesReplaceTheTemplates) {
  EngineInput input = input_for("/m.mrc");
  input.search_yaml += "micrograph_sha256: old\ntemplate_volume_sha256: old\n";
  input.micrograph_sha256 = std::string(64, '1');
  input.template_sha256 = std::string(64, '2');
  const YAML::Node config = YAML::Load(engine_config(input));
  EXPECT_EQ(config["micrograph_sha256"].as<std::string>(), std::string(64, '1'));
  EXPECT_EQ(config["template_volume_sha256"].as<std::string>(), std::string(64, '2'));
  input.micrograph_sha256.clear();
  EXPECT_FALSE(YAML::Load(engine_config(input))["micrograph_sha256"]);
}

TEST(EngineConfig, TheItemsCtfReplacesTheTemplatesAndTheOpticsStay) {
  const YAML::Node optics = YAML::Load(engine_config(input_for("/m.mrc")))["optics_group"];
  EXPECT_EQ(optics["defocus_u"].as<double>(), 10200.125);
  EXPECT_EQ(optics["defocus_v"].as<double>(), 9800);
  EXPECT_EQ(optics["astigmatism_angle"].as<double>(), -35.5);
  EXPECT_EQ(optics["phase_shift"].as<double>(), 90);
  EXPECT_EQ(optics["pixel_size"].as<double>(), 1.06);
  EXPECT_EQ(optics["voltage"].as<double>(), 300);
  EXPECT_TRUE(optics["even_zernikes"].IsNull());
}

TEST(EngineConfig, EveryMapGoesIntoTheAttemptsOwnFolder) {
  const YAML::Node results =
      YAML::Load(engine_config(input_for("/m.mrc")))["match_template_result"];
  std::set<std::string> paths;
  for (const auto& entry : results) {
    const auto path = entry.second.as<std::string>();
    EXPECT_EQ(path.rfind("/state/jobs/1/a1/", 0), 0u) << path;
    paths.insert(path);
  }
  EXPECT_EQ(paths.size(), 8u);
}

TEST(EngineConfig, WhatTheTemplateQuotedStaysText) {
  const std::string text = engine_config(input_for("/m.mrc"));
  const YAML::Node config = YAML::Load(text);
  EXPECT_EQ(config["optics_group"]["label"].Scalar(), "0123");
  EXPECT_EQ(config["optics_group"]["label"].Tag(), "!") << "must stay quoted";
  EXPECT_EQ(config["computational_config"]["gpu_ids"][0].Tag(), "!");
  EXPECT_EQ(config["computational_config"]["gpu_ids"][1].Tag(), "?") << "must stay a number";
  ASSERT_EQ(config["orientation_search_config"].size(), 2u);
  EXPECT_EQ(config["orientation_search_config"][1]["symmetry"].as<std::string>(), "O");
  EXPECT_EQ(config["defocus_search_config"]["defocus_step"].as<int>(), 200);
}

TEST(EngineConfig, AnchorsOfTheTemplateAreWrittenOut) {
  EngineInput input = input_for("/m.mrc");
  input.search_yaml =
      "optics_group: &o {pixel_size: 1, voltage: 300}\nextra: *o\nmicrograph_path: null\n";
  const YAML::Node config = YAML::Load(engine_config(input));
  EXPECT_EQ(config["extra"]["voltage"].as<double>(), 300);
}

TEST(EngineConfig, AStoredTemplateThatContainsItselfOrGrowsIsRefusedAndNotWrittenOut) {
  EngineInput input = input_for("/m.mrc");
  const std::string optics = "optics_group: {pixel_size: 2.0, voltage: 300.0}\n";
  input.search_yaml = optics + "x: &x [*x]\n";
  EXPECT_THROW(engine_config(input), SearchSettingsError);
  input.search_yaml = optics + "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string last = std::string("*") + static_cast<char>(c - 1);
    input.search_yaml += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i) input.search_yaml += last + ", ";
    input.search_yaml += last + "]\n";
  }
  EXPECT_THROW(engine_config(input), SearchSettingsError);
}

TEST(EngineConfig, TheSameInputGivesTheSameTextEveryTime) {
  EXPECT_EQ(engine_config(input_for("/m.mrc")), engine_config(input_for("/m.mrc")));
}

TEST(SearchSettings, AreRefusedWhenTheOpticsAreMissing) {
  const auto refusal = [](const std::string& yaml) -> std::string {
    try {
      check_search_settings(yaml);
    } catch (const SearchSettingsError& error) {
      return error.what();
    }
    return "not refused";
  };
  EXPECT_THAT(refusal("- a\n- b\n"), HasSubstr("mapping"));
  EXPECT_THAT(refusal("a: [1"), HasSubstr("not YAML"));
  EXPECT_THAT(refusal(",\n"), HasSubstr("line 1: not YAML"));
  EXPECT_THAT(refusal("optics_group: {voltage: 300, pixel_size: 1}\nx: &x [*x]\n"),
              HasSubstr("line 2: an alias"));
  EXPECT_THAT(refusal("a: 1"), HasSubstr("optics_group is missing"));
  EXPECT_THAT(refusal("optics_group: {voltage: 300}"), HasSubstr("optics_group.pixel_size"));
  EXPECT_THAT(refusal("optics_group: {voltage: 300, pixel_size: -1}"), HasSubstr("pixel_size"));
  EXPECT_THAT(refusal("optics_group: {voltage: abc, pixel_size: 1}"), HasSubstr("voltage"));
  EXPECT_EQ(refusal("optics_group: {voltage: 300, pixel_size: 1}"), "not refused");
  EXPECT_EQ(refusal("optics_group: {voltage: 300, pixel_size: 1e30}"),
            "optics_group.pixel_size must be at most 100 A, but is 1e30");
  EXPECT_THAT(refusal("optics_group: {voltage: 1e300, pixel_size: 1}"),
              HasSubstr("optics_group.voltage must be at most 10000 kV"));
  EXPECT_THAT(refusal("optics_group: {voltage: 300, pixel_size: 1, spherical_aberration: 1e200}"),
              HasSubstr("optics_group.spherical_aberration must be at most 100 mm"));
  EXPECT_EQ(refusal("optics_group: {voltage: 300, pixel_size: 1, spherical_aberration: null}"),
            "not refused");
}

}  // namespace
}  // namespace scheduler
