#include "scheduler/cli/terminal/text_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/cli/items/progress.h"
#include "scheduler/cli/terminal/exit.h"

namespace scheduler::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Printable, ControlCharactersCannotReachTheTerminal) {
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");  // C1: CSI in one byte
  EXPECT_EQ(printable("\xE2\x80\xAE"
                      "crm"),
            "\\xe2\\x80\\xaecrm");  // right-to-left override
}

TEST(Printable, LettersStayAndStrayBytesShow) {
  EXPECT_EQ(printable("Größe 日本.mrc"), "Größe 日本.mrc");
  EXPECT_EQ(printable("Gr\xF6\xDF"
                      "e"),
            "Gr\\xf6\\xdfe");
}

TEST(Printable, ALogKeepsItsLines) { EXPECT_EQ(printable_lines("a\n\tb\r"), "a\n\tb\\r"); }

TEST(Width, WideAndCombiningLettersAreCountedInCells) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("日本"), 4);
  EXPECT_EQ(display_width("e\xCC\x81"), 1);
}

TEST(Shorten, TheEllipsisStandsWhereTextIsMissing) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdef", 4), "abc…");
  EXPECT_EQ(shorten("abcdef", 4, Cut::kStart), "…def");
  EXPECT_EQ(display_width(shorten("日本語日本語", 6)), 5);
}

Table two_columns() {
  return Table({{.title = "ITEM", .align = Align::kRight},
                {.title = "MICROGRAPH", .least = 8, .cut = Cut::kStart}});
}

TEST(Tables, ColumnsAreAligned) {
  Table table = two_columns();
  table.add({{"7"}, {"/d/a.mrc"}});
  table.add({{"12345"}, {"b"}});
  EXPECT_EQ(table.text(0, false), " ITEM  MICROGRAPH\n    7  /d/a.mrc\n12345  b\n");
}

TEST(Tables, ALongPathLosesItsBeginningOnANarrowTerminal) {
  Table table = two_columns();
  table.add({{"7"}, {"/data/session/grid1/one.mrc"}});
  EXPECT_EQ(table.text(20, false), "ITEM  MICROGRAPH\n   7  …grid1/one.mrc\n");
}

TEST(Tables, AFileNameCannotBreakALineOrColourIt) {
  Table table = two_columns();
  table.add({{"7", style::kBold}, {"a\nb\x1b[31m"}});
  EXPECT_THAT(table.text(0, false), HasSubstr("a\\nb\\x1b[31m\n"));
  EXPECT_THAT(table.text(0, false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(table.text(0, true), HasSubstr("\x1b[1m"));
}

Progress quarter_done() {
  return {.done = 250,
          .total = 1000,
          .rate = 412,
          .eta_seconds = 95,
          .best_z = 11.237,
          .state = "running"};
}

TEST(ProgressLines, NeverExceedTheTerminal) {
  const std::vector<ProgressRow> rows = {
      {.item = 12,
       .name = "a_very_long_name_indeed_of_a_micrograph.mrc",
       .progress = quarter_done()},
      {.item = 13, .name = "日本.mrc", .progress = std::nullopt}};
  for (const int columns : {10, 40, 60, 80, 100, 132, 200}) {
    for (const std::string& line : progress_lines(rows, columns)) {
      EXPECT_LE(display_width(line), columns) << line;
    }
  }
}

TEST(ProgressLines, TellWhereASearchIs) {
  const std::vector<ProgressRow> rows = {
      {.item = 12, .name = "one.mrc", .progress = quarter_done()}};
  const std::string line = progress_lines(rows, 110).at(0);
  for (const char* part :
       {"item 12", "one.mrc", "█", "25.0 %", "412/s", "1 min 35 s left", "best z 11.24"}) {
    EXPECT_THAT(line, HasSubstr(part));
  }
  EXPECT_THAT(progress_lines(rows, 0).at(0), Not(HasSubstr("█")));
  EXPECT_EQ(progress_lines(rows, 24).at(0), "12   25.0 %  1 min 35 s");
}

TEST(ProgressLines, BarsStandUnderEachOther) {
  const std::vector<ProgressRow> rows = {
      {.item = 9, .name = "one.mrc", .progress = quarter_done()},
      {.item = 10, .name = "another.mrc", .progress = quarter_done()}};
  const auto lines = progress_lines(rows, 110);
  const auto cells_before_bar = [](const std::string& line) {
    return display_width(line.substr(0, line.find("█")));
  };
  EXPECT_EQ(cells_before_bar(lines[0]), cells_before_bar(lines[1]));
}

TEST(ProgressLines, ASearchWithoutProgressIsStarting) {
  const std::vector<ProgressRow> rows = {{.item = 12, .name = "one.mrc", .progress = {}}};
  EXPECT_THAT(progress_lines(rows, 80).at(0), HasSubstr("starting"));
}

TEST(ExitCodes, SomeOfManyIsPartialAndAllAlikeIsTheirReason) {
  Tally all_well;
  all_well.succeeded();
  EXPECT_EQ(all_well.exit(), Exit::kOk);
  Tally some;
  some.succeeded();
  some.failed(Exit::kConflict);
  EXPECT_EQ(some.exit(), Exit::kPartial);
  Tally alike;
  alike.failed(Exit::kConflict);
  alike.failed(Exit::kConflict);
  EXPECT_EQ(alike.exit(), Exit::kConflict);
  Tally mixed;
  mixed.failed(Exit::kConflict);
  mixed.failed(Exit::kNotFound);
  EXPECT_EQ(mixed.exit(), Exit::kFailed);
}

TEST(ExitCodes, KindsOfErrorsComeBack) {
  for (const Exit exit : {Exit::kNotFound, Exit::kNotPermitted, Exit::kConflict, Exit::kTimedOut}) {
    EXPECT_EQ(exit_of_kind(kind_of(exit)), exit);
  }
  EXPECT_EQ(exit_of_kind("internal"), Exit::kFailed);
}

}  // namespace
}  // namespace scheduler::cli
