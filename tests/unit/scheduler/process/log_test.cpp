#include "scheduler/process/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "db/records.h"

namespace scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(JournalFields, AreOfTheJobThatALineNames) {
  const std::string token = db::make_token("2x56mz", 12, 3);
  EXPECT_THAT(journal_fields(token + ": FAILED (bad_input): it is cut short; item QUARANTINED"),
              ElementsAre(Pair("MARGAY_JOB", token), Pair("MARGAY_ITEM", "12"),
                          Pair("MARGAY_ATTEMPT", "3")));
  EXPECT_THAT(journal_fields("submitting '" + token + "'"), testing::SizeIs(3));
}

TEST(JournalFields, AreOfTheItemThatALineNames) {
  EXPECT_THAT(journal_fields("item 12: QUARANTINED: its template is not there"),
              ElementsAre(Pair("MARGAY_ITEM", "12")));
  EXPECT_THAT(journal_fields("margayd ended abnormally while it had item 7 in hand"),
              ElementsAre(Pair("MARGAY_ITEM", "7")));
}

TEST(JournalFields, AreMissingWhereALineNamesNoneOfThem) {
  for (const char* line :
       {"", "margayd stops; running jobs continue", "margay-x-12", "12 items", "items 12",
        "item 12a", "margay-x-1-b2", "xmargay-x-1-a2", "margay-x-1-a2b"}) {
    EXPECT_THAT(journal_fields(line), IsEmpty()) << line;
  }
}

// A test's standard error is not what systemd has connected.
TEST(JournalSink, IsOnlyForAStreamThatSystemdHasConnected) {
  ::setenv("JOURNAL_STREAM", "1:1", 1);
  EXPECT_EQ(journal_sink(), nullptr);
  ::unsetenv("JOURNAL_STREAM");
}

}  // namespace
}  // namespace scheduler
