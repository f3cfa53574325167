#include "scheduler/ingest/relion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/read_file.h"
#include "scheduler/ingest/star.h"
#include "tests/unit/scheduler/ingest/refuses.h"

namespace scheduler::ingest {
namespace {

using testing::HasSubstr;

std::string star_corpus(const std::string& name) {
  return base::read_file(MARGAY_SOURCE_DIR "/tests/fuzz/corpus/micrographs_star/" + name).value();
}

const std::string kLoop =
    "data_micrographs\nloop_\n_rlnMicrographName #1\n_rlnDefocusU #2\n_rlnDefocusV #3\n"
    "_rlnDefocusAngle #4\n";

TEST(Relion, TheFormOf30HasItsPixelSizeFromMagnificationAndDetector) {
  const auto listed = parse_relion(star_corpus("relion_3.0"), "/p/micrographs_ctf.star");
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].path, "MotionCorr/job002/Movies/one.mrc");
  EXPECT_EQ(listed[0].place, "line 19");
  EXPECT_EQ(listed[0].refused, "");
  EXPECT_DOUBLE_EQ(listed[0].ctf.defocus_u, 10863.857422);
  EXPECT_DOUBLE_EQ(listed[0].ctf.defocus_v, 10575.793945);
  EXPECT_DOUBLE_EQ(listed[0].ctf.astigmatism_angle, 77.995003);
  EXPECT_EQ(listed[0].ctf.phase_shift, 0);
  EXPECT_EQ(listed[0].ctf.source, "/p/micrographs_ctf.star");
  EXPECT_DOUBLE_EQ(listed[0].optics.pixel_size, 1.06);
  EXPECT_EQ(listed[0].optics.voltage, 300);
  EXPECT_EQ(listed[0].optics.spherical_aberration, 2.7);
}

TEST(Relion, OpticsGroupsGiveTheMicrographsPixelSizeNotTheMovies) {
  const auto listed = parse_relion(star_corpus("relion_3.1"), "x");
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].optics.pixel_size, 1.77);
  EXPECT_EQ(listed[0].optics.voltage, 200);
  EXPECT_EQ(listed[0].ctf.phase_shift, 90.5);
}

TEST(Relion, APathWithBlanksStandsInQuotesAndAWrongNumberCostsItsLineAlone) {
  const auto listed = parse_relion(star_corpus("relion_5"), "x");
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].path, "MotionCorr/job002/a b/one two.mrc");
  EXPECT_EQ(listed[0].refused, "");
  EXPECT_EQ(listed[1].place, "line 26");
  EXPECT_EQ(listed[1].refused, "rlnDefocusU: 'nan' is not a number");
}

TEST(Relion, SingleValuesAreATableOfOneRow) {
  const auto listed = parse_relion(star_corpus("quotes"), "x");
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].path, "it's \"one\".mrc");
}

TEST(Relion, MissingColumnsAreNamed) {
  EXPECT_THAT(
      [] { parse_relion("data_\nloop_\n_rlnMicrographName\n_rlnDefocusU\na 1\n", "a.star"); },
      refuses("a.star: no column _rlnDefocusV, _rlnDefocusAngle", "micrographs_ctf.star"));
  EXPECT_THAT([] { parse_relion("data_\nloop_\n_rlnImageName\na\n", "a.star"); },
              refuses("no column _rlnMicrographName"));
  EXPECT_THAT([] { parse_relion("data_\nloop_\n_rlnMicrographName\n_rlnCoordinateX\na 1\n", "a"); },
              refuses("a list of particles"));
}

TEST(Relion, AnUnknownOpticsGroupIsNamed) {
  const auto listed = parse_relion(
      "data_\nloop_\n_rlnMicrographName\n_rlnDefocusU\n_rlnDefocusV\n_rlnDefocusAngle\n"
      "_rlnOpticsGroup\na.mrc 1 1 1 7\n",
      "a.star");
  EXPECT_THAT(listed.at(0).refused, HasSubstr("no optics group 7"));
}

TEST(Relion, AWrongNumberOfAnOpticsGroupNamesItsLine) {
  EXPECT_THAT(
      [] {
        parse_relion("data_optics\nloop_\n_rlnOpticsGroup\n_rlnVoltage\n1 3OO\n" + kLoop, "a.star");
      },
      refuses("a.star: line 5: rlnVoltage: '3OO' is not a number"));
}

TEST(Star, ARowOfAnotherLengthNamesItsLineAndSpeaksOfQuotes) {
  EXPECT_THAT([] { parse_star(kLoop + "a b.mrc 1 2 3\n", "a.star"); },
              refuses("a.star: line 7: 5 values in a table of 4 columns", "quotes"));
}

TEST(Star, WhatIsNoStarFileIsRefusedWithItsLine) {
  EXPECT_THAT([] { parse_star("data_\nloop_\n_a\n'x\n", "a"); }, refuses("line 4", "does not end"));
  EXPECT_THAT([] { parse_star("loop_\n", "a"); }, refuses("line 1", "before any 'data_'"));
  EXPECT_THAT([] { parse_star("data_\nx\n", "a"); }, refuses("line 2", "belongs to no column"));
  EXPECT_THAT([] { parse_star("data_\n_a 1 2\n", "a"); }, refuses("needs one value"));
  EXPECT_THAT([] { parse_star("data_\n;\n", "a"); }, refuses("line 2", "several lines"));
}

TEST(Star, WindowsLineEndsAndCommentsBehindValuesAreRead) {
  const auto tables =
      parse_star("data_x\r\nloop_\r\n_a #1\r\n_b #2\r\n1 2 # three\r\n\r\n3 4", "a");
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].name, "x");
  ASSERT_EQ(tables[0].rows.size(), 2U);
  EXPECT_EQ(tables[0].rows[1].values, (std::vector<std::string>{"3", "4"}));
}

TEST(Star, WrittenValuesAreReadBack) {
  for (const std::string value :
       {"a.mrc", "a b.mrc", "", "it's", "'x", "\"x\" y", "#1", "_a", "data_", "loop_", "x\"",
        "\"a\" 'b'c", "'a' \"b\"c", "it's\"", " a ", "a b'c\"d"}) {
    const auto tables = parse_star("data_\n_a " + star_value(value).value() + "\n", "a");
    EXPECT_EQ(tables.at(0).rows.at(0).values.at(0), value);
  }
}

TEST(Star, ATextThatRelionWouldNotReadBackHasNoForm) {
  for (const std::string value : {"a\" b' c", "'a\" b'", "a b' \"c\" d", "a 'b\" \"c'", "a\tb",
                                  "a\nb", "a\ab", "a\rb", "a  b"}) {
    EXPECT_EQ(star_value(value), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace scheduler::ingest
