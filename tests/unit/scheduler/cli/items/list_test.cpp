#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <csignal>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/cli/items/list_columns.h"
#include "scheduler/cli/program.h"
#include "scheduler/cli/terminal/redraw.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CliListTest : public CliTest {
 protected:
  CliListTest() { register_template(); }
  // In the order in which they are listed.
  static std::vector<std::string> first_words(const std::string& table) {
    std::vector<std::string> words;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream cells(line);
      cells >> words.emplace_back();
    }
    return words;
  }
};

TEST_F(CliListTest, LiveItemsComeFirstAndTheNewestLast) {
  for (const char* name : {"a", "b", "c", "d", "e"}) enqueue(std::string(name) + ".mrc");
  set_state(1, ItemState::kDone);
  set_state(2, ItemState::kFailed);
  set_state(4, ItemState::kHeld);
  activate(5);
  const std::string listed = margay({"list"}).out;
  EXPECT_THAT(first_words(listed), ElementsAre("ITEM", "5", "3", "4", "1", "2"));
  EXPECT_THAT(listed, AllOf(HasSubstr("a.mrc"), Not(HasSubstr(file("a.mrc")))));
  EXPECT_THAT(first_words(margay({"list", "--state", "failed,held"}).out),
              ElementsAre("ITEM", "4", "2"));
  EXPECT_THAT(first_words(margay({"list", "--limit", "4"}).out),
              ElementsAre("ITEM", "5", "3", "4", "2"))
      << "of those that have ended the newest";
}

TEST_F(CliListTest, OnlyTheNewestOfThoseThatHaveEndedAreListedUnlessAllAreAskedFor) {
  const db::Item item = *db::ItemStore(*database_).find(enqueue("a.mrc"));
  for (int repeat = 1; repeat <= 30; ++repeat) {
    db::Item ended = item;
    ended.repeat = repeat;
    ended.state = ItemState::kDone;
    db::ItemStore(*database_).insert(ended);
  }
  status_.items = {{ItemState::kQueued, 1}, {ItemState::kDone, 30}};
  const Outcome listed = margay({"list"});
  EXPECT_EQ(first_words(listed.out).size(), 28U) << "title, 1 live, 25 and the last line";
  EXPECT_THAT(listed.out,
              HasSubstr("... and 5 older items that have ended; 'margay list --all' shows all"));
  EXPECT_EQ(first_words(margay({"list", "--all"}).out).size(), 32U);
  const Outcome document = margay({"list", "--json"});
  EXPECT_EQ(document.document().at("items").size(), 31U);
  EXPECT_EQ(document.out, document.document().dump(2) + "\n");
  EXPECT_EQ(margay({"list", "--json", "--state", "FAILED"}).out,
            "{\n  \"format\": 1,\n  \"items\": []\n}\n");
  EXPECT_EQ(margay({"list", "--json", "--sort", "item"}).document(), document.document());
}

TEST_F(CliListTest, ColumnsAreChosenByNameAndPrintedAsCsvToo) {
  ASSERT_EQ(enqueue_files({write("a,b.mrc")},
                          {"--defocus-u", "1", "--defocus-v", "1", "--label", "grid \"1\""})
                .exit,
            0);
  EXPECT_EQ(margay({"list", "--format", "item,label,path"}).out,
            "ITEM  LABEL     PATH\n   1  grid \"1\"  " + file("a,b.mrc") + "\n");
  const std::string csv = margay({"list", "--format", "csv"}).out;
  EXPECT_THAT(csv, AllOf(HasSubstr("item,state,progress,priority,template,owner,group,label,"),
                         HasSubstr("\"grid \"\"1\"\"\""), HasSubstr("\"a,b.mrc\"")));
  EXPECT_EQ(margay({"list", "--format", "json"}).document().at("items").size(), 1U);
  const Outcome unknown = margay({"list", "--format", "item,stat"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.error, HasSubstr("unknown column 'stat'; did you mean 'state'? Known: item"));
}

TEST_F(CliListTest, ItemsAreSortedByAColumn) {
  for (const char* name : {"b", "c", "a"}) enqueue(std::string(name) + ".mrc");
  margay({"promote", "2", "--priority", "urgent"});
  margay({"finish-by", "3", "--time", "2099-01-01T00:00Z"});
  const auto sorted = [&](const std::string& key) {
    return first_words(margay({"list", "--sort", key}).out);
  };
  EXPECT_THAT(sorted("micrograph"), ElementsAre("ITEM", "3", "1", "2"));
  EXPECT_THAT(sorted("-micrograph"), ElementsAre("ITEM", "2", "1", "3"));
  EXPECT_THAT(sorted("-item"), ElementsAre("ITEM", "3", "2", "1"));
  EXPECT_THAT(sorted("priority"), ElementsAre("ITEM", "2", "1", "3"));
  EXPECT_THAT(sorted("finish-by"), ElementsAre("ITEM", "3", "1", "2")) << "without a value: last";
  EXPECT_THAT(sorted("-finish-by"), ElementsAre("ITEM", "3", "1", "2"));
  EXPECT_EQ(margay({"list", "--sort", "colour"}).exit, 2);
}

TEST_F(CliListTest, TheListIsDrawnAgainUntilCtrlC) {
  enqueue("a.mrc");
  sigset_t interrupt{};
  sigset_t before{};
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &interrupt, &before), 0);
  ASSERT_EQ(pthread_kill(pthread_self(), SIGINT), 0);
  const Outcome watched = margay({"list", "--watch", "--every", "1h"});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(watched.exit, 0);
  EXPECT_THAT(watched.out, AllOf(HasSubstr("a.mrc"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(margay({"list", "--watch", "--json"}).exit, 2);
  EXPECT_THAT(margay({"list", "--watch", "--every", "0s"}).error,
              HasSubstr("'0s' is too short; give at least 100ms"));
}

TEST_F(CliListTest, WhatWasEnqueuedBesideARefusedFileIsWaitedFor) {
  const std::string path = write("a.mrc");
  for (const bool as_json : {false, true}) {
    const int64_t item = as_json ? 2 : 1;
    std::thread ends([this, item] {
      while (!db::ItemStore(*database_).find(item)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      set_state(item, ItemState::kDone);
    });
    Words options = {"--defocus-u", "1", "--defocus-v", "1", "--same-ctf", "--again", "--wait"};
    if (as_json) options.emplace_back("--json");
    const Outcome outcome = enqueue_files({path, file("absent.mrc")}, options);
    ends.join();
    EXPECT_EQ(outcome.exit, 3) << outcome.error;
    if (as_json) {
      EXPECT_EQ(outcome.document().at("wait").at("ended").size(), 1U);
    } else {
      EXPECT_THAT(outcome.out, HasSubstr("item 1  DONE"));
    }
  }
}

TEST_F(CliListTest, AnUnknownColumnToSortByIsRefusedInAnEmptyListToo) {
  EXPECT_EQ(margay({"list", "--sort", "colour"}).exit, 2);
}

// Takes nothing, as a full disk.
class FullStream : public std::ostream {
 public:
  FullStream() : std::ostream(&nowhere_) {}

 private:
  class Nowhere : public std::streambuf {
   protected:
    int overflow(int) override { return traits_type::eof(); }
  };
  Nowhere nowhere_;
};

TEST_F(CliListTest, OutputThatCannotBeWrittenIsAFailure) {
  enqueue("a.mrc");
  const std::string socket = file("s.sock");
  for (const char* command : {"list", "whoami", "--help"}) {
    FullStream out;
    std::ostringstream error;
    const std::vector<const char*> arguments = {"margay", "--socket", socket.c_str(), command};
    EXPECT_EQ(cli::run(static_cast<int>(arguments.size()), arguments.data(), {}, out, error), 1);
    EXPECT_THAT(error.str(), HasSubstr("cannot write all of the output")) << command;
  }
}

TEST_F(CliListTest, EnqueueWaitsForItsItemsIfAsked) {
  const std::string path = write("a.mrc");
  std::thread ends([this] {
    while (db::ItemStore(*database_).list({}).empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    set_state(1, ItemState::kDone);
  });
  const Outcome outcome =
      enqueue_files({path}, {"--defocus-u", "1", "--defocus-v", "1", "--wait", "--json"});
  ends.join();
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(outcome.document().at("enqueued"), 1);
  EXPECT_EQ(outcome.document().at("wait").at("ended").at(0).at("state"), "DONE");
}

TEST(TopOf, CutsAViewToTheLinesOfTheTerminal) {
  EXPECT_EQ(cli::top_of("a\nb\nc\n", 3), "a\nb\nc\n");
  EXPECT_EQ(cli::top_of("a\nb\nc\nd\n", 3), "a\nb\n... and 2 more lines\n");
  EXPECT_EQ(cli::top_of("", 3), "");
}

TEST(CsvLine, QuotesWhatWouldEndAValue) {
  EXPECT_EQ(cli::csv_line({"a", "", "b,c", "say \"x\"", "two\nlines"}),
            "a,,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\"");
}

}  // namespace
}  // namespace scheduler
