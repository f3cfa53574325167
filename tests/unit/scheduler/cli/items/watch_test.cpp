#include "scheduler/cli/items/watch.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class CliWatchTest : public CliTest {
 protected:
  CliWatchTest() {
    fs::create_directory(file("grid1"));
    register_template();
  }

  Outcome watch(Words words, const Words& more = {}) const {
    words.insert(words.begin(), "watch");
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--watches", file("state/watches.json")});
    return margay(words);
  }
  Outcome add(const Words& more = {}) const {
    return watch({"add", file("grid1"), "--template", "ribosome", "--defocus-u", "10000",
                  "--defocus-v", "9000", "--astigmatism-angle", "30", "--same-ctf"},
                 more);
  }
  Outcome run_once() const { return watch({"run", "--once", "--settle", "50ms"}); }

  json items() const { return get("/v1/items?limit=1000").at("items"); }
};

TEST_F(CliWatchTest, EachFileOfTheFolderIsEnqueuedOnce) {
  ASSERT_EQ(add({"--priority", "low", "--label", "grid1"}).exit, 0);
  write("grid1/one.mrc");
  write("grid1/two.mrc");
  write("grid1/notes.txt", "x");
  write("grid1/.hidden.mrc");
  const Outcome first = run_once();
  EXPECT_EQ(first.exit, 0) << first.error;
  EXPECT_THAT(first.out, AllOf(HasSubstr(file("grid1/one.mrc")), HasSubstr("item 2")));
  EXPECT_EQ(run_once().out, "");
  ASSERT_EQ(items().size(), 2U);
  EXPECT_EQ(items().at(0).at("label"), "grid1");
  EXPECT_EQ(items().at(0).at("priority"), "low");
  EXPECT_EQ(items().at(0).at("ctf").at("defocus_v"), 9000);
}

TEST_F(CliWatchTest, TheSameContentUnderAnotherNameIsAConflictThatNamesTheFirst) {
  add();
  write("grid1/one.mrc");
  run_once();
  fs::rename(file("grid1/one.mrc"), file("grid1/renamed.mrc"));
  const Outcome renamed = run_once();
  EXPECT_EQ(renamed.out, "");
  EXPECT_THAT(renamed.error, HasSubstr("'" + file("grid1/renamed.mrc") + "' has the content of '" +
                                       file("grid1/one.mrc") +
                                       "', which was enqueued with "
                                       "template ribosome as item 1"));
  EXPECT_EQ(run_once().error, "");
  EXPECT_EQ(items().size(), 1U);
}

TEST_F(CliWatchTest, WhatWasTakenIsKnownToTheDaemonAloneToo) {
  add();
  write("grid1/one.mrc");
  run_once();
  fs::remove(file("state/watches.json.taken"));
  EXPECT_THAT(run_once().error, HasSubstr("was enqueued with template ribosome as item 1"));
  EXPECT_EQ(items().size(), 1U);
}

TEST_F(CliWatchTest, ATruncatedFileIsLeftUntilItIsWhole) {
  add();
  const std::string whole = tests::small_mrc("slow");
  write("grid1/slow.mrc", whole.substr(0, 1100));
  write("grid1/stack.mrc", tests::small_mrc("stack", {.sections = 3}));
  const Outcome cut = run_once();
  EXPECT_EQ(cut.exit, 3);
  EXPECT_THAT(cut.error, AllOf(HasSubstr("slow.mrc is cut short"), HasSubstr("is a stack")));
  EXPECT_TRUE(items().empty());
  fs::remove(file("grid1/stack.mrc"));
  write("grid1/slow.mrc", whole);
  EXPECT_EQ(run_once().exit, 0);
  EXPECT_EQ(items().size(), 1U);
}

TEST_F(CliWatchTest, OtherContentUnderAPathIsAnotherItem) {
  add();
  write("grid1/one.mrc", tests::small_mrc("first"));
  run_once();
  write("grid1/one.mrc", tests::small_mrc("second", {.width = 32}));
  EXPECT_THAT(run_once().out, HasSubstr("item 2"));
}

TEST_F(CliWatchTest, AMicrographWaitsForItsCtfFile) {
  watch({"add", file("grid1"), "--template", "ribosome", "--ctf", "{dir}/{stem}_ctf.txt"});
  write("grid1/one.mrc");
  EXPECT_EQ(run_once().exit, 3);
  write("grid1/one_ctf.txt", "1 10000 9000 30 0 0.1 4\n");
  EXPECT_EQ(run_once().exit, 0);
  EXPECT_EQ(items().at(0).at("ctf").at("defocus_u"), 10000);
}

TEST_F(CliWatchTest, ACorrectedCtfFileIsTakenUpAgain) {
  watch({"add", file("grid1"), "--template", "ribosome", "--ctf", "{dir}/{stem}_ctf.txt"});
  write("grid1/one.mrc");
  const std::string values = "1 10200 9800 30 0 0.1 4\n";
  write("grid1/one_ctf.txt", "# acceleration voltage: 200.0 keV\n" + values);
  write("grid1/slow.mrc", "");
  // The run does not end while a file is being written.
  std::thread microscope([&] {
    for (int i = 0; i < 100; ++i) {
      if (i == 50) write("grid1/one_ctf.txt", "# acceleration voltage: 300.0 keV\n" + values);
      std::ofstream(file("grid1/slow.mrc"), std::ios::app) << "more";
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    fs::remove(file("grid1/slow.mrc"));
  });
  const Outcome outcome = watch({"run", "--once", "--settle", "500ms"});
  microscope.join();
  EXPECT_THAT(outcome.error, HasSubstr("has voltage 200 kV"));
  EXPECT_THAT(outcome.out, HasSubstr("item 1"));
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
}

TEST_F(CliWatchTest, ADoubtfulCtfIsAWarning) {
  watch({"add", file("grid1"), "--template", "ribosome", "--ctf", "{dir}/{stem}_ctf.txt"});
  write("grid1/one.mrc");
  write("grid1/one_ctf.txt", "1 -10200 -9800 30 0 0.1 4\n");
  const Outcome outcome = run_once();
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_THAT(outcome.out, HasSubstr("item 1"));
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("watch 1: warning: " + file("grid1/one.mrc")),
                                   HasSubstr("is the sign right?")));
}

TEST_F(CliWatchTest, WatchesAreListedPausedResumedAndRemoved) {
  EXPECT_THAT(watch({"list"}).out, HasSubstr("no watches"));
  EXPECT_THAT(add().out, HasSubstr("watch 1 added"));
  EXPECT_EQ(watch({"pause", "1"}).exit, 0);
  EXPECT_THAT(watch({"list"}).out, AllOf(HasSubstr("paused"), HasSubstr(file("grid1/*.mrc"))));
  write("grid1/one.mrc");
  EXPECT_EQ(run_once().out, "");
  EXPECT_EQ(watch({"resume", "1"}).exit, 0);
  EXPECT_THAT(run_once().out, HasSubstr("item 1"));
  EXPECT_EQ(watch({"remove", "1"}).exit, 0);
  EXPECT_EQ(watch({"pause", "1"}).exit, 4);
  EXPECT_THAT(add().out, HasSubstr("watch 2 added"));
}

TEST_F(CliWatchTest, WhatCannotBeWatchedIsRefused) {
  EXPECT_EQ(watch({"add", file("absent"), "--template", "ribosome", "--defocus-u", "1",
                   "--defocus-v", "1", "--same-ctf"})
                .exit,
            4);
  EXPECT_EQ(watch({"add", file("grid1"), "--template", "ribosom", "--defocus-u", "1", "--defocus-v",
                   "1", "--same-ctf"})
                .exit,
            4);
  EXPECT_EQ(watch({"add", file("grid1"), "--template", "ribosome"}).exit, 2);
  const Outcome one_ctf =
      watch({"add", file("grid1"), "--template", "ribosome", "--ctf", file("grid1/one_ctf.txt")});
  EXPECT_EQ(one_ctf.exit, 2);
  EXPECT_THAT(one_ctf.error, HasSubstr("--same-ctf"));
  EXPECT_EQ(watch({"run", "--once", "--rescan", "0s"}).exit, 2);
  EXPECT_EQ(add({"--again"}).exit, 2);
  fs::create_directory(file("state"));
  write("state/watches.json", "{");
  EXPECT_THAT(watch({"list"}).error, HasSubstr("watches.json: is damaged"));
}

TEST_F(CliWatchTest, WhatTheDaemonRefusesIsSaidAndTriedAgainByTheNextRun) {
  add();
  write("grid1/other.mrc", tests::small_mrc("other", {.pixel_size = 7}));
  write("grid1/one.mrc");
  const Outcome first = run_once();
  EXPECT_EQ(first.exit, 3);
  EXPECT_THAT(first.error, AllOf(HasSubstr("other.mrc' has a pixel size of 7 A"),
                                 HasSubstr("correct the wrong one")));
  EXPECT_EQ(items().size(), 1U);
  const Outcome second = run_once();
  EXPECT_EQ(second.exit, 3);
  EXPECT_EQ(second.error, first.error);
  write("grid1/other.mrc", tests::small_mrc("other"));
  EXPECT_EQ(run_once().exit, 0);
  EXPECT_EQ(items().size(), 2U);
}

TEST_F(CliWatchTest, ALineThatACrashCutShortSpoilsNoOther) {
  add();
  write("grid1/one.mrc");
  run_once();
  std::ofstream(file("state/watches.json.taken"), std::ios::app) << R"({"watch": 1, "by)";
  write("grid1/two.mrc");
  EXPECT_THAT(run_once().out, HasSubstr("item 2"));
  EXPECT_EQ(run_once().error, "");
}

TEST_F(CliWatchTest, ASecondRunIsRefusedWhileAnotherWorks) {
  add();
  const cli::TakenFiles first(file("state/watches.json"));
  const Outcome second = run_once();
  EXPECT_EQ(second.exit, 1);
  EXPECT_THAT(second.error, HasSubstr("another 'margay watch run'"));
}

// A microscope: most files are written in pieces, some never to their end, some are renamed twice
// while the folder is watched.
TEST_F(CliWatchTest, OfManyFilesThatArriveMeanwhileEachWholeOneIsEnqueuedOnce) {
  add();
  constexpr int kFiles = 200;
  std::thread microscope([this] {
    for (int i = 0; i < kFiles; ++i) {
      const std::string name = "grid1/m" + std::to_string(i);
      const std::string bytes = tests::small_mrc("micrograph " + std::to_string(i));
      if (i % 20 == 7) {
        write(name + ".mrc", bytes.substr(0, 1200));  // never whole
      } else if (i % 10 == 3) {
        write(name + ".tmp", bytes);
        fs::rename(file(name + ".tmp"), file(name + "_x.mrc"));
        fs::rename(file(name + "_x.mrc"), file(name + ".mrc"));
      } else if (i % 5 == 1) {
        std::ofstream stream(file(name + ".mrc"), std::ios::binary);
        for (const size_t at : {size_t{0}, size_t{500}, size_t{1100}}) {
          stream << bytes.substr(at, at == 1100 ? std::string::npos
                                     : at == 0  ? 500
                                                : 600)
                 << std::flush;
          std::this_thread::sleep_for(std::chrono::milliseconds(3));
        }
      } else {
        write(name + ".mrc", bytes);
      }
    }
  });
  run_once();
  microscope.join();
  for (int i = 0; i < kFiles; i += 10) {
    const std::string name = "grid1/m" + std::to_string(i);
    fs::rename(file(name + ".mrc"), file(name + "_y.mrc"));
  }
  EXPECT_EQ(run_once().exit, 3);
  std::map<std::string, int> contents;
  for (const json& item : items()) {
    std::string stem = fs::path(item.at("micrograph").get<std::string>()).stem().string();
    ++contents[stem.substr(0, stem.find('_'))];
  }
  EXPECT_EQ(contents.size(), static_cast<size_t>(kFiles - kFiles / 20));
  for (const auto& [stem, count] : contents) EXPECT_EQ(count, 1) << stem;
}

}  // namespace
}  // namespace scheduler
