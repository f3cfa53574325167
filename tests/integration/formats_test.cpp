// docs/formats.md names every key that the engine reads, and every map, column and field that it
// writes.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "tests/integration/engine_program.h"

namespace tests {
namespace {

std::string source(const std::string& path) {
  return read(std::string(MARGAY_SOURCE_DIR) + "/" + path);
}

// The words that stand in backticks, and the parts of those with dots.
std::set<std::string> words_of_page() {
  const std::string page = source("docs/formats.md");
  static const std::regex quoted("`([^`\n]+)`");
  std::set<std::string> words;
  for (std::sregex_iterator at(page.begin(), page.end(), quoted), end; at != end; ++at) {
    for (const std::string& part : base::split((*at)[1], '.')) words.insert(part);
  }
  return words;
}

void expect_all(const std::set<std::string>& names, const std::string& what) {
  const std::set<std::string> words = words_of_page();
  EXPECT_FALSE(names.empty()) << what;
  for (const std::string& name : names) EXPECT_TRUE(words.count(name)) << what << " " << name;
}

std::set<std::string> first_line_of(const std::string& csv) {
  std::set<std::string> columns;
  for (const std::string& name : base::split(csv.substr(0, csv.find('\n')), ',')) {
    if (!name.empty()) columns.insert(name);
  }
  return columns;
}

// Names below them differ from one search to another, or are those of the maps.
void add_fields(const nlohmann::json& object, std::set<std::string>& fields) {
  for (const auto& [name, value] : object.items()) {
    fields.insert(name);
    if (name == "libraries" || name == "build" || name == "outputs" || name == "pictures") continue;
    if (value.is_object()) add_fields(value, fields);
  }
}

TEST(Formats, EveryKeyOfTheConfigurationIsOnThePage) {
  static const std::regex lists(
      R"((?:allow_only\(\s*|known = |read_zernikes\(section, "[a-z_]+", )\{([^}]*)\})");
  static const std::regex literal("\"([^\"]+)\"");
  std::set<std::string> keys;
  const std::string folder = std::string(MARGAY_SOURCE_DIR) + "/engine/config";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read(entry.path().string());
    for (std::sregex_iterator at(text.begin(), text.end(), lists), end; at != end; ++at) {
      const std::string list = (*at)[1];
      for (std::sregex_iterator name(list.begin(), list.end(), literal); name != end; ++name) {
        keys.insert((*name)[1]);
      }
    }
  }
  for (const char* known :
       {"psi_step", "Z44c", "Z33s", "gpu_ids", "hdf5_path", "particle_radius"}) {
    EXPECT_TRUE(keys.count(known)) << "the sources are read another way: " << known;
  }
  keys.erase("micrograph");
  keys.erase("template_volume");
  expect_all(keys, "the key");
}

TEST(Formats, EveryMapColumnAndFieldOfASearchIsOnThePage) {
  const SmallSearch search;
  const Finished run = search.match({"--output", "out/peaks.csv"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  expect_all(first_line_of(read(search.file("out/peaks.csv"))), "the column");
  const nlohmann::json manifest = nlohmann::json::parse(read(search.file("out/manifest.json")));
  std::set<std::string> fields;
  add_fields(manifest, fields);
  add_fields(nlohmann::json::parse(read(search.file("out/progress.json"))), fields);
  add_fields(manifest.at("outputs").at("mip"), fields);
  expect_all(fields, "the field");
  std::set<std::string> maps;
  for (const auto& [name, file] : manifest.at("outputs").items()) maps.insert(name);
  expect_all(maps, "the output");
}

TEST_F(EngineProgram, TheColumnsOfSimulatedParticlesAreOnThePage) {
  const Finished made = run({"simulate", "--template", "template.mrc", "--pixel-size", "2",
                             "--size", "64", "--count", "1", "--output", "made.mrc"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  expect_all(first_line_of(read(search_.file("made_truth.csv"))), "the column");
}

}  // namespace
}  // namespace tests
