#include "scheduler/ingest/cryosparc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/read_file.h"
#include "scheduler/ingest/parse_list.h"
#include "tests/unit/scheduler/ingest/refuses.h"

namespace scheduler::ingest {
namespace {

std::string cs_corpus(const std::string& name) {
  return base::read_file(MARGAY_SOURCE_DIR "/tests/fuzz/corpus/exposures/" + name).value();
}

std::string numpy(const std::string& header, const std::string& records) {
  std::string bytes = "\x93NUMPY";
  bytes += '\1';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + records;
}

TEST(Cryosparc, ExposuresComeOutInAngstromsAndDegrees) {
  const auto listed = parse_cryosparc(cs_corpus("numpy"), "/p/exposures.cs");
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].path, "J2/motioncorrected/one.mrc");
  EXPECT_EQ(listed[0].place, "record 1");
  EXPECT_EQ(listed[0].ctf.defocus_u, 10200.5);
  EXPECT_EQ(listed[0].ctf.defocus_v, 9800.25);
  EXPECT_NEAR(listed[0].ctf.astigmatism_angle, 28.6478897, 1e-5);
  EXPECT_NEAR(listed[0].optics.pixel_size, 1.06, 1e-6);
  EXPECT_EQ(listed[0].optics.voltage, 300);
  EXPECT_EQ(listed[0].ctf.source, "/p/exposures.cs");
}

TEST(Cryosparc, ARecordWithoutANumberIsRefusedAlone) {
  const auto listed = parse_cryosparc(cs_corpus("numpy"), "x");
  EXPECT_EQ(listed[1].path, "J2/motioncorrected/a b.mrc");
  EXPECT_EQ(listed[1].refused, "ctf/df1_A is not a number");
}

TEST(Cryosparc, UnicodePathsAndTheOtherByteOrderAreRead) {
  const auto listed = parse_cryosparc(cs_corpus("unicode"), "x");
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].path, "ö.mrc");
  EXPECT_EQ(listed[0].ctf.defocus_u, 1e4);
}

TEST(Cryosparc, WhatCannotBeReadSaysWhatToDo) {
  EXPECT_THAT([] { parse_cryosparc(cs_corpus("objects"), "a.cs"); },
              refuses("a.cs", "holds Python objects"));
  EXPECT_THAT(
      [] {
        parse_cryosparc(
            "\x94"
            "CSDAT...",
            "a.cs");
      },
      refuses("compressed format"));
  const std::string whole = cs_corpus("numpy");
  EXPECT_THAT([&] { parse_cryosparc(whole.substr(0, whole.size() - 1), "a.cs"); },
              refuses("a.cs: is cut short"));
  EXPECT_THAT([&] { parse_cryosparc(whole.substr(0, 40), "a.cs"); }, refuses("is cut short"));
}

TEST(Cryosparc, MissingFieldsAreNamed) {
  const std::string bytes = numpy(
      "{'descr': [('micrograph_blob/path', '|S2'), ('ctf/df1_A', '<f4')], 'fortran_order': False, "
      "'shape': (0,), }",
      "");
  EXPECT_THAT([&] { parse_cryosparc(bytes, "a.cs"); },
              refuses("a.cs: no field ctf/df2_A, ctf/df_angle_rad"));
}

TEST(Cryosparc, HeadersThatPromiseTooMuchAreRefused) {
  const auto with = [](const std::string& type, const std::string& shape) {
    return numpy(
        "{'descr': [('a', '" + type + "')], 'fortran_order': False, 'shape': " + shape + "}",
        "1234");
  };
  EXPECT_THAT([&] { parse_cryosparc(with("<f4", "(99999999999,)"), "a"); }, refuses("shape"));
  EXPECT_THAT([&] { parse_cryosparc(with("|S4294967295", "(1,)"), "a"); }, refuses("too large"));
  EXPECT_THAT([&] { parse_cryosparc(with("<f4", "(2,)"), "a"); }, refuses("cut short"));
  EXPECT_THAT([&] { parse_cryosparc(with("|S0", "(2,)"), "a"); }, refuses("no bytes"));
  EXPECT_THAT([&] { parse_cryosparc(numpy("{'descr': '<f4', 'shape': (1,)}", "1234"), "a"); },
              refuses("plain numbers"));
}

TEST(List, TheFormatIsFoundByTheBytes) {
  EXPECT_EQ(parse_list(cs_corpus("numpy"), "a.txt").size(), 2U);
  EXPECT_EQ(parse_list("# version\ndata_\n_rlnMicrographName a\n_rlnDefocusU 1\n_rlnDefocusV 1\n"
                       "_rlnDefocusAngle 0\n",
                       "a.txt")
                .size(),
            1U);
  EXPECT_THAT([] { parse_list("# CTFFind\n1 2 3\n", "a.txt"); },
              refuses("a.txt: neither", "--ctf"));
}

}  // namespace
}  // namespace scheduler::ingest
