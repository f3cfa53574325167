#include "scheduler/ingest/ctffind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "tests/unit/scheduler/ingest/refuses.h"

namespace scheduler::ingest {
namespace {

const std::string kHead =
    "# Output from CTFFind version 4.1.14, run on 2021-06-02 16:46:11\n"
    "# Input file: one.mrc ; Number of micrographs: 1\n"
    "# Pixel size: 1.060 Angstroms ; acceleration voltage: 300.0 keV ; spherical aberration: 2.70 "
    "mm ; amplitude contrast: 0.07\n"
    "# Columns: #1 - micrograph number; #2 - defocus 1 [Angstroms]; #3 - defocus 2; #4 - azimuth "
    "of astigmatism; #5 - additional phase shift [radians]; #6 - cross correlation; #7 - spacing\n";

TEST(Ctffind, DefociAndAzimuthAreReadAsTheyAre) {
  const auto [ctf, optics] =
      parse_ctffind(kHead + "1.000000 10200.5 9800.25 35.5 0.000000 0.123 4.5\n", "/d/one_ctf.txt");
  EXPECT_EQ(ctf.defocus_u, 10200.5);
  EXPECT_EQ(ctf.defocus_v, 9800.25);
  EXPECT_EQ(ctf.astigmatism_angle, 35.5);
  EXPECT_EQ(ctf.phase_shift, 0);
  EXPECT_EQ(ctf.source, "/d/one_ctf.txt");
  EXPECT_EQ(optics.voltage, 300);
  EXPECT_EQ(optics.spherical_aberration, 0) << "rounded";
  EXPECT_EQ(optics.pixel_size, 0) << "of CTFFIND's input, not of the micrograph";
}

TEST(Ctffind, ThePhaseShiftComesOutInDegrees) {
  const db::Ctf ctf =
      parse_ctffind(kHead + "1 10200 9800 35 1.5707963267948966 0.1 4.5\n", "x").ctf;
  EXPECT_NEAR(ctf.phase_shift, 90, 1e-9);
}

TEST(Ctffind, AFileOfVersion5WithMoreColumnsIsRead) {
  const db::Ctf ctf =
      parse_ctffind(kHead + "1 10200 9800 -35 0.5 0.1 inf 12.0 3.0 850.0\r\n", "x").ctf;
  EXPECT_EQ(ctf.astigmatism_angle, -35);
  EXPECT_NEAR(ctf.phase_shift, 90 / std::numbers::pi, 1e-9);
}

TEST(Ctffind, OpticsThatTheCommentsDoNotSayAreNotKnown) {
  const std::string values = "1 10200 9800 35 0 0.1 4.5\n";
  for (const std::string comment : {"", "# acceleration voltage: high keV\n", "# voltage: 200\n"}) {
    EXPECT_EQ(parse_ctffind(comment + values, "x").optics.voltage, 0) << comment;
  }
}

TEST(Ctffind, SeveralMicrographsInOneFileAreRefused) {
  EXPECT_THAT([] { parse_ctffind(kHead + "1 1 1 0 0 0 4\n2 1 1 0 0 0 4\n", "stack_ctf.txt"); },
              refuses("stack_ctf.txt", "2 lines"));
}

TEST(Ctffind, APhaseShiftInDegreesIsNotTakenForRadians) {
  EXPECT_THAT([] { parse_ctffind("1 1 1 0 90.0 0 4\n", "vpp.txt"); },
              refuses("vpp.txt", "radians"));
}

TEST(Ctffind, WhatIsNotANumberIsNamedByLineAndColumn) {
  EXPECT_THAT([] { parse_ctffind("# head\n1 10200 nan 0 0 0 4\n", "a.txt"); },
              refuses("a.txt: line 2, column 3 (defocus 2)", "'nan'"));
  EXPECT_THAT([] { parse_ctffind("1 10200x 1 0 0 0 4\n", "a.txt"); }, refuses("'10200x'"));
}

TEST(Ctffind, AFileWithoutValuesOrWithTooFewIsRefused) {
  EXPECT_THAT([] { parse_ctffind(kHead, "a.txt"); }, refuses("a.txt", "no line"));
  EXPECT_THAT([] { parse_ctffind("1 2 3\n", "a.txt"); }, refuses("a.txt", "3 columns"));
  EXPECT_THAT([] { read_ctffind("/nowhere/a.txt"); }, refuses("/nowhere/a.txt", "No such file"));
}

TEST(CtfPattern, FolderStemAndNameAreFilledIn) {
  EXPECT_EQ(expand_pattern("{dir}/{stem}_ctf.txt", "/data/a b/one.two.mrc"),
            "/data/a b/one.two_ctf.txt");
  EXPECT_EQ(expand_pattern("ctf/{name}.txt", "x.mrc"), "ctf/x.mrc.txt");
  EXPECT_EQ(expand_pattern("{dir}/c.txt", "x.mrc"), "./c.txt");
}

TEST(CtfPattern, BracesInAFileNameAreNotFilledInAgain) {
  EXPECT_EQ(expand_pattern("{dir}/{stem}.txt", "/d/{stem}.mrc"), "/d/{stem}.txt");
}

TEST(CtfPattern, AnUnknownNameIsRefused) {
  EXPECT_THAT([] { expand_pattern("{base}.txt", "x.mrc"); }, refuses("{base}", "{stem}"));
}

TEST(CtfPattern, WithoutStemAndNameAllFilesShareIt) {
  EXPECT_TRUE(pattern_is_constant("{dir}/ctf.txt"));
  EXPECT_FALSE(pattern_is_constant("ctf/{stem}.txt"));
}

}  // namespace
}  // namespace scheduler::ingest
