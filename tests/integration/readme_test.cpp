// README.md and docs/quickstart.md, word by word: every command runs, every configuration is read,
// every link leads to a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "base/json.h"
#include "scheduler/config/config_reader.h"
#include "tests/integration/doc_page.h"
#include "tests/program.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char* const kBuilds = "installs packages and builds";
const char* const kSlurm = "needs a Slurm cluster";

std::string source(const std::string& path) { return MARGAY_SOURCE_DIR "/" + path; }

DocPage read_page(const std::string& name) { return parse_page(name, text_of(source(name))); }

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

void link_entries(const std::string& from, const std::string& into,
                  const std::set<std::string>& without) {
  fs::create_directories(into);
  for (const auto& entry : fs::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (without.count(name) == 0) fs::create_symlink(entry.path(), into + "/" + name);
  }
}

// The repository after a build, as links, with a search that takes seconds under the sanitizers:
// that of the same crop for its known answer in place of the demo's.
std::string make_tree(const ScratchFolder& scratch) {
  std::string tree = scratch / "margay";
  const std::string data = "/tests/data";
  link_entries(MARGAY_SOURCE_DIR, tree, {"build", ".git", "tests"});
  link_entries(source("tests"), tree + "/tests", {"data"});
  link_entries(source("tests/data"), tree + data, {"demo"});
  link_entries(source("tests/data/demo"), tree + data + "/demo", {"search.yaml"});
  fs::create_symlink(source("tests/data/lsu_crop.yaml"), tree + data + "/demo/search.yaml");
  fs::create_directories(tree + "/build/release");
  fs::create_directory_symlink(MARGAY_BIN_DIR, tree + "/build/release/bin");
  return tree;
}

void expect_works_word_by_word(const std::string& name) {
  const ScratchFolder scratch;
  const DocPage page = read_page(name);
  EXPECT_THAT(page.indented, IsEmpty()) << "fence them, so that they are run";
  for (const CodeBlock& block : page.blocks) {
    EXPECT_THAT(block.language, testing::AnyOf("sh", "text", "yaml")) << "line " << block.line;
  }
  EXPECT_THAT(faults_of(page, make_tree(scratch)), IsEmpty());
}

TEST(Readme, EveryCommandWorksWordByWord) { expect_works_word_by_word("README.md"); }

TEST(Quickstart, EveryCommandWorksWordByWord) { expect_works_word_by_word("docs/quickstart.md"); }

TEST(DocPages, ACommandThatIsWrongOrDoesNotPrintWhatIsPromisedIsNoticed) {
  const ScratchFolder scratch;
  const DocPage page = parse_page("planted.md",
                                  "```sh\n"
                                  "cd tests  # a folder of the tree\n"
                                  "pwd\n"
                                  "```\n"
                                  "```text\n.../margay/tests\n...docs\n```\n"
                                  "```sh\n"
                                  "export PATH=\"$PWD/../build/release/bin:$PATH\"\n"
                                  "margay \\\n"
                                  "  --version\n"
                                  "margay lst\n"
                                  "```\n");
  EXPECT_THAT(faults_of(page, make_tree(scratch)),
              ElementsAre(HasSubstr("planted.md:3: `pwd` does not print '...docs'"),
                          HasSubstr("planted.md:13: `margay lst` ends with 2")));
}

// What a command that no test can run names is there: a script that explains itself, a preset, an
// option.
void expect_exists(const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  const std::string& program = words.front();
  if (program == "cmake") {
    const auto presets = nlohmann::json::parse(text_of(source("CMakePresets.json")));
    std::set<std::string> names;
    const bool build = words.at(1) == "--build";
    for (const auto& preset : presets.at(build ? "buildPresets" : "configurePresets")) {
      names.insert(preset.at("name"));
    }
    EXPECT_EQ(names.count(words.back()), 1u) << command;
    return;
  }
  const bool script = program.find('/') != std::string::npos;
  std::vector<std::string> help = {script ? source(program)
                                          : MARGAY_BIN_DIR + std::string("/") + program};
  if (words.size() > 1 && words[1][0] != '-') help.push_back(words[1]);
  help.emplace_back("--help");
  const Finished finished = run_program(help, MARGAY_SOURCE_DIR);
  EXPECT_EQ(finished.exit_code, 0) << command << "\n" << finished.error;
  for (const std::string& word : words) {
    if (word.compare(0, 2, "--") != 0) continue;
    EXPECT_THAT(finished.output, HasSubstr(word)) << command;
  }
}

TEST(DocPages, NothingElseIsLeftOutAndWhatIsLeftOutExists) {
  std::vector<std::string> found;
  for (const char* name : {"README.md", "docs/quickstart.md"}) {
    for (const CodeBlock& block : read_page(name).blocks) {
      if (block.mark.rfind(kNotRun, 0) != 0) continue;
      for (const Command& command : commands_of(block)) {
        found.push_back(block.mark.substr(std::string(kNotRun).size()) + ": " + command.text);
        expect_exists(command.text);
      }
    }
  }
  const std::string builds = std::string(kBuilds) + ": ";
  const std::string slurm = std::string(kSlurm) + ": ";
  EXPECT_THAT(found, ElementsAre(builds + "tools/demo", builds + "tools/check",
                                 builds + "tools/deps", builds + "cmake --preset release",
                                 builds + "cmake --build --preset release",
                                 slurm + "margayd --doctor --config margayd.yaml",
                                 slurm + "margayd --config margayd.yaml",
                                 slurm + "margay enqueue 'session/*.mrc' --template ribosome --ctf "
                                         "'{dir}/{stem}_ctf.txt' --time 2:00:00",
                                 builds + "tools/deps", builds + "cmake --preset release",
                                 builds + "cmake --build --preset release"));
}

TEST(Readme, TheConfigurationForSlurmIsOneThatTheDaemonReads) {
  int configurations = 0;
  for (const CodeBlock& block : read_page("README.md").blocks) {
    if (block.language != "yaml") continue;
    ++configurations;
    std::string text;
    for (const std::string& line : block.lines) text += line + "\n";
    scheduler::Config config;
    ASSERT_NO_THROW(config = scheduler::parse_config(text, "README.md"));
    ASSERT_NO_THROW(scheduler::complete_config(config, MARGAY_BIN_DIR));
    EXPECT_EQ(config.cluster, scheduler::ClusterKind::kSlurm);
  }
  EXPECT_EQ(configurations, 1);
}

std::vector<std::string> pages() {
  std::vector<std::string> names = {"README.md"};
  for (const auto& entry : fs::directory_iterator(source("docs"))) {
    if (entry.path().extension() == ".md") {
      names.push_back("docs/" + entry.path().filename().string());
    }
  }
  return names;
}

// A path from the repository's root: `engine/numerics/peaks.h`; not a pattern of several.
bool is_path_here(const std::string& word) {
  const size_t slash = word.find('/');
  return slash != std::string::npos && slash > 0 &&
         word.find_first_of("*{<$") == std::string::npos && word.compare(0, 6, "build/") != 0 &&
         fs::exists(source(word.substr(0, slash)));
}

TEST(DocPages, EveryLinkAndEveryPathLeadsToAFile) {
  for (const std::string& name : pages()) {
    const DocPage page = read_page(name);
    const fs::path folder = fs::path(source(name)).parent_path();
    for (const std::string& link : page.links) {
      EXPECT_TRUE(fs::exists(folder / link)) << name << " links to " << link;
    }
    for (const std::string& code : page.inline_code) {
      const std::string word = code.substr(0, code.find(' '));
      if (is_path_here(word)) {
        EXPECT_TRUE(fs::exists(source(word))) << name << " names " << word;
      }
    }
  }
}

// The first group of `pattern` wherever it is in `text`.
std::vector<std::string> all_of(const std::string& text, const char* pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) {
    found.push_back((*i)[1]);
  }
  return found;
}

std::set<std::string> test_programs() {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(source("tests"))) {
    if (entry.path().filename() != "CMakeLists.txt") continue;
    const std::string text = text_of(entry.path().string());
    for (const std::string& name : all_of(text, R"(margay_test\(NAME (\w+))")) names.insert(name);
    for (const std::string& name : all_of(text, R"(margay_slurm_test\((\w+))")) {
      names.insert("slurm_" + name);
    }
    for (const std::string& loop : all_of(text, R"(foreach\(test ([^)]*)\))")) {
      for (const std::string& name : words_of(loop)) names.insert(name);
    }
  }
  return names;
}

TEST(Readme, EveryTestThatItNamesIsThere) {
  const std::set<std::string> programs = test_programs();
  int named = 0;
  for (const std::string& word : read_page("README.md").inline_code) {
    if (!std::regex_match(word, std::regex("[a-z_0-9]+_test"))) continue;
    ++named;
    EXPECT_EQ(programs.count(word), 1u) << word;
  }
  EXPECT_GT(named, 0);
}

}  // namespace
}  // namespace tests
