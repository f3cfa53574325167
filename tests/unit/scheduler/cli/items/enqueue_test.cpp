#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "scheduler/http/json_text.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliEnqueueTest : public CliTest {};

TEST_F(CliEnqueueTest, FileNamesWithAnyLettersArriveUnchanged) {
  register_template();
  const Words names = {"a b.mrc",        "it's.mrc",    "say \"hi\".mrc", "line\nbreak.mrc",
                       "Größe 日本.mrc", "back\\n.mrc", "$(touch x).mrc", "*.mrc",
                       "[ab].mrc",       "-dash.mrc",   "%41&x=1#.mrc",   "\x1b[31mred.mrc"};
  Words paths;
  for (const std::string& name : names) paths.push_back(write(name));
  Words arguments = {"enqueue",     "--template", "ribosome",   "--defocus-u", "1e4",
                     "--defocus-v", "1e4",        "--same-ctf", "--json",      "--"};
  arguments.insert(arguments.end(), paths.begin(), paths.end());
  const Outcome outcome = margay(arguments);
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  const json listed = margay({"list", "--json"}).document().at("items");
  ASSERT_EQ(listed.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(api::get_text(listed[i], "micrograph"), paths[i]);
  }
  EXPECT_THAT(margay({"list"}).out, AllOf(Not(HasSubstr("\x1b")), HasSubstr("line\\nbreak.mrc")));
}

TEST_F(CliEnqueueTest, ANameThatIsNotUtf8IsNamedExactlyInTheAnswer) {
  register_template();
  const std::string path = write(
      "Gr\xF6\xDF"
      "e.mrc");
  const Outcome outcome = margay({"enqueue", path, "--template", "ribosome", "--defocus-u", "1",
                                  "--defocus-v", "1", "--json"});
  EXPECT_NE(outcome.exit, 0);
  EXPECT_EQ(api::get_text(outcome.document().at("items").at(0), "path"), path);
  EXPECT_THAT(outcome.error, HasSubstr("Gr\\xf6\\xdfe.mrc"));
}

TEST_F(CliEnqueueTest, RelativePathsAndLinksBecomeTheFilesOwn) {
  register_template();
  const std::string path = write("one.mrc");
  std::filesystem::create_symlink(path, file("link.mrc"));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const Outcome outcome = enqueue_files({"./link.mrc"});
  std::filesystem::current_path(before);
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(get("/v1/items/1").at("item").at("micrograph"), path);
}

TEST_F(CliEnqueueTest, AQuotedGlobIsExpanded) {
  register_template();
  for (const char* name : {"g1.mrc", "g2.mrc", "g3.txt"}) write(name);
  const Outcome outcome =
      enqueue_files({file("g*.mrc")}, {"--defocus-u", "1", "--defocus-v", "1", "--same-ctf"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("2 enqueued"));
  EXPECT_EQ(enqueue_files({file("x*.mrc")}).exit, 4);
}

TEST_F(CliEnqueueTest, ManyFilesGoInSeveralRequests) {
  register_template();
  for (int i = 0; i < 450; ++i) write("m" + std::to_string(i) + ".mrc");
  const int wakes = wakes_;
  const Outcome outcome =
      enqueue_files({file("m*.mrc")}, {"--defocus-u", "1", "--defocus-v", "1", "--same-ctf"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("450 enqueued"), HasSubstr("and 430 more")));
  EXPECT_EQ(wakes_ - wakes, 3);
  EXPECT_EQ(margay({"list", "--json"}).document().at("items").size(), 450U);
}

TEST_F(CliEnqueueTest, OneBadFileDoesNotKeepTheOthersOut) {
  register_template();
  const Outcome outcome =
      enqueue_files({write("one.mrc"), file("missing.mrc"), write("two.mrc"), folder_},
                    {"--defocus-u", "1", "--defocus-v", "1", "--same-ctf"});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.out, HasSubstr("2 enqueued, 2 refused"));
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("missing.mrc: cannot open it: No such file"),
                                   HasSubstr("is a folder")));
}

TEST_F(CliEnqueueTest, WhatIsEnqueuedAlreadyIsNamedAndAgainMakesAnother) {
  register_template();
  const std::string path = write("one.mrc");
  ASSERT_EQ(enqueue_files({path}).exit, 0);
  const Outcome twice = enqueue_files({path});
  EXPECT_EQ(twice.exit, 6);
  EXPECT_THAT(twice.error, HasSubstr("item 1"));
  EXPECT_EQ(enqueue_files({path, "--again"}).exit, 0);
}

TEST_F(CliEnqueueTest, ANamedPipeIsRefusedAtOnce) {
  register_template();
  ASSERT_EQ(::mkfifo(file("pipe.mrc").c_str(), 0644), 0);
  const Outcome outcome = enqueue_files({file("pipe.mrc")});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.error, HasSubstr("not a regular file"));
}

TEST_F(CliEnqueueTest, CtfValuesComeFromTheFileOfEachMicrograph) {
  register_template();
  write("one.mrc");
  write("two.mrc");
  write("one_ctf.txt", "# head\n1 10000 9000 30 1.5707963267948966 0.1 4\n");
  write("two_ctf.txt", "# head\n1 20000 19000 -60 0 0.1 4\n");
  const Outcome outcome =
      enqueue_files({file("one.mrc"), file("two.mrc")}, {"--ctf", "{dir}/{stem}_ctf.txt"});
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  const json one = get("/v1/items/1").at("item").at("ctf");
  EXPECT_NEAR(one.at("phase_shift").get<double>(), 90, 1e-9);
  EXPECT_EQ(one.at("source"), file("one_ctf.txt"));
  EXPECT_EQ(get("/v1/items/2").at("item").at("ctf").at("astigmatism_angle"), -60);
}

TEST_F(CliEnqueueTest, AMicrographWithoutItsCtfFileIsRefusedAlone) {
  register_template();
  write("one.mrc");
  write("two.mrc");
  write("two_ctf.txt", "1 20000 19000 -60 0 0.1 4\n");
  const Outcome outcome =
      enqueue_files({file("one.mrc"), file("two.mrc")}, {"--ctf", "{dir}/{stem}_ctf.txt"});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("one.mrc"), HasSubstr("one_ctf.txt")));
}

TEST_F(CliEnqueueTest, ACtfFileOfAnotherVoltageIsRefused) {
  register_template();
  write("one.mrc");
  write("one_ctf.txt",
        "# Pixel size: 0.500 Angstroms ; acceleration voltage: 200.0 keV ; spherical aberration: "
        "2.70 mm\n1 10000 9000 30 0 0.1 4\n");
  const Outcome outcome = enqueue_files({file("one.mrc")}, {"--ctf", "{dir}/{stem}_ctf.txt"});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.error, HasSubstr("has voltage 200 kV in its list or CTF file, and "
                                       "template ribosome@1 searches with 300 kV"));
}

TEST_F(CliEnqueueTest, ARefusedCtfIsNotDoubtedToo) {
  register_template();
  write("one.mrc");
  const Outcome outcome =
      enqueue_files({file("one.mrc")}, {"--defocus-u", "10200000", "--defocus-v", "10200000"});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("one.mrc': defocus_u must be between -1000000 and 1000000 A, "
                              "but is 10200000\n"),
                    testing::Not(HasSubstr("warning"))));
}

TEST_F(CliEnqueueTest, ADoubtfulCtfIsAWarning) {
  register_template();
  write("g1.mrc");
  write("g2.mrc");
  const Outcome um =
      enqueue_files({file("g*.mrc")}, {"--defocus-u", "1.02", "--defocus-v", "1.02", "--same-ctf"});
  EXPECT_EQ(um.exit, 0);
  EXPECT_THAT(um.error, HasSubstr("warning: " + file("g1.mrc") +
                                  ": defocus_u is 1.02 A: is it in um? 1 um is 10000 A (and 1 "
                                  "more such CTF)\n"));
  const Outcome over = enqueue_files(
      {file("g1.mrc")}, {"--defocus-u", "-9000", "--defocus-v", "-9000", "--again", "--json"});
  EXPECT_EQ(over.exit, 0);
  EXPECT_THAT(over.error, HasSubstr("is the sign right?\n"));
  const Outcome usual =
      enqueue_files({file("g1.mrc")}, {"--defocus-u", "9000", "--defocus-v", "9000", "--again"});
  EXPECT_EQ(usual.error, "");
}

TEST_F(CliEnqueueTest, APhaseShiftIsDoubtedOnlyWhereItsUnitMayBeWrong) {
  register_template();
  write("a.mrc");
  const Words defocus = {"--defocus-u", "9000", "--defocus-v", "9000", "--phase-shift", "1.57"};
  EXPECT_THAT(enqueue_files({file("a.mrc")}, defocus).error, HasSubstr("is it in radians"));
  write("b.mrc");
  write("b_ctf.txt", "1 20000 19000 -60 0.04 0.1 4\n");
  const Outcome of_ctffind = enqueue_files({file("b.mrc")}, {"--ctf", "{dir}/{stem}_ctf.txt"});
  EXPECT_EQ(of_ctffind.exit, 0);
  EXPECT_EQ(of_ctffind.error, "");
}

TEST_F(CliEnqueueTest, AFolderAndAListAreNamedBeforeTheirCtf) {
  register_template();
  std::filesystem::create_directory(file("session"));
  write("micrographs.star");
  const Words ctf = {"--ctf", "{dir}/{stem}_ctf.txt"};
  EXPECT_THAT(enqueue_files({file("session")}, ctf).error, HasSubstr("is a folder"));
  const Outcome list = enqueue_files({file("micrographs.star")}, ctf);
  EXPECT_EQ(list.exit, 1);
  EXPECT_THAT(list.error, HasSubstr("give it to 'margay import'"));
}

TEST_F(CliEnqueueTest, CtfOptionsThatDoNotFitAreRefusedBeforeAnythingIsSent) {
  register_template();
  const std::string one = write("one.mrc");
  const std::string two = write("two.mrc");
  const std::vector<Words> wrong = {
      {"--phase-shift", "0"},
      {"--defocus-u", "1"},
      {"--defocus-u", "1", "--defocus-v", "2"},
      {"--defocus-u", "1", "--defocus-v", "1", "--ctf", "{stem}.txt"},
      {"--defocus-u", "1", "--defocus-v", "1", two},
      {"--ctf", "{dir}/ctf.txt", two},
  };
  for (const Words& options : wrong) {
    EXPECT_EQ(enqueue_files({one}, options).exit, 2) << testing::PrintToString(options);
  }
  EXPECT_EQ(margay({"enqueue", one, "--template", "ribosome"}).exit, 2);
  EXPECT_TRUE(get("/v1/items").at("items").empty());
  EXPECT_EQ(
      enqueue_files({one}, {"--defocus-u", "1", "--defocus-v", "2", "--astigmatism-angle", "-30"})
          .exit,
      0);
}

}  // namespace
}  // namespace scheduler
