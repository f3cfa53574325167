#include "scheduler/cli/items/import.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/scratch_folder.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// A project of RELION with one job of CtfFind.
class CliImportTest : public CliTest {
 protected:
  CliImportTest() {
    fs::create_directories(file("project/CtfFind/job003"));
    fs::create_directories(file("project/Motion/a b"));
    register_template();
  }

  std::string write_list(const std::string& rows, const std::string& optics = "2.0 300 2.7") const {
    return write("project/CtfFind/job003/micrographs_ctf.star",
                 "data_optics\n\nloop_\n_rlnOpticsGroup #1\n_rlnMicrographPixelSize #2\n"
                 "_rlnVoltage #3\n_rlnSphericalAberration #4\n1 " +
                     optics +
                     "\n\ndata_micrographs\n\nloop_\n_rlnMicrographName #1\n_rlnOpticsGroup #2\n"
                     "_rlnDefocusU #3\n_rlnDefocusV #4\n_rlnDefocusAngle #5\n_rlnPhaseShift #6\n" +
                     rows);
  }

  Outcome import_list(const std::string& list, const Words& more = {}) const {
    Words arguments = {"import", list, "--template", "ribosome"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return margay(arguments);
  }
};

TEST_F(CliImportTest, MicrographsAreEnqueuedWithTheirCtfFromTheProjectsFolder) {
  write("project/Motion/one.mrc");
  write("project/Motion/a b/two.mrc");
  const std::string list =
      write_list("Motion/one.mrc 1 10200 9800 35 90\n'Motion/a b/two.mrc' 1 20000 19000 -60 0\n");
  const Outcome outcome = import_list(list, {"--priority", "high", "--label", "grid1"});
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("2 enqueued"));
  const json one = get("/v1/items/1").at("item");
  EXPECT_EQ(one.at("micrograph"), file("project/Motion/one.mrc"));
  EXPECT_EQ(one.at("priority"), "high");
  EXPECT_EQ(one.at("label"), "grid1");
  EXPECT_EQ(one.at("ctf").at("defocus_u"), 10200);
  EXPECT_EQ(one.at("ctf").at("astigmatism_angle"), 35);
  EXPECT_EQ(one.at("ctf").at("phase_shift"), 90);
  EXPECT_EQ(one.at("ctf").at("source"), list);
  EXPECT_EQ(get("/v1/items/2").at("item").at("micrograph"), file("project/Motion/a b/two.mrc"));
}

TEST_F(CliImportTest, WhatCannotBeUsedIsRefusedByItsLineAndTheRestIsTaken) {
  write("project/Motion/one.mrc");
  write("project/Motion/stack.mrc", tests::small_mrc("", {.sections = 4}));
  write("project/Motion/cut.mrc", tests::small_mrc().substr(0, 1100));
  write("project/Motion/other.mrc", tests::small_mrc("", {.pixel_size = 1.06}));
  write("project/Motion/tiff.mrc", std::string("II*\0", 4) + std::string(2000, ' '));
  const std::string list = write_list(
      "Motion/one.mrc 1 10200 9800 35 0\nMotion/one.mrc 1 10200 9800 35 0\n"
      "Motion/missing.mrc 1 1 1 0 0\nMotion/stack.mrc 1 1 1 0 0\nMotion/cut.mrc 1 1 1 0 0\n"
      "Motion/other.mrc 1 1 1 0 0\nMotion/tiff.mrc 1 1 1 0 0\nMotion/one.mrc 1 x 1 0 0\n"
      "Motion 1 1 1 0 0\n");
  const Outcome outcome = import_list(list);
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.out, HasSubstr("1 enqueued, 8 refused"));
  EXPECT_THAT(
      outcome.error,
      AllOf(HasSubstr(list + ": line 20: '" + file("project/Motion/one.mrc") +
                      "' with template ribosome@1 is item 1"),
            HasSubstr("line 21: " + file("project/Motion/missing.mrc") + ": cannot open it"),
            HasSubstr("line 22: '" + file("project/Motion/stack.mrc") + "' is a stack"),
            HasSubstr("line 23: '" + file("project/Motion/cut.mrc") + "' is cut short"),
            HasSubstr(
                "a pixel size of 1.06 A in its header, and template ribosome@1 searches at 2 A"),
            HasSubstr("is a TIFF file"), HasSubstr("line 26: rlnDefocusU: 'x' is not a number"),
            HasSubstr("line 27: " + file("project/Motion") + " is a folder")));
}

TEST_F(CliImportTest, OtherOpticsThanTheTemplatesAreRefused) {
  write("project/Motion/one.mrc");
  const std::string row = "Motion/one.mrc 1 1 1 0 0\n";
  EXPECT_THAT(import_list(write_list(row, "1.0 300 2.7")).error, HasSubstr("pixel_size 1 A"));
  EXPECT_THAT(import_list(write_list(row, "2.0 200 2.7")).error, HasSubstr("voltage 200 kV"));
  EXPECT_THAT(import_list(write_list(row, "2.0 300 0.01")).error,
              HasSubstr("spherical_aberration 0.01 mm"));
  EXPECT_EQ(import_list(write_list(row)).exit, 0);
}

TEST_F(CliImportTest, ADryRunChecksEverythingAndEnqueuesNothing) {
  write("project/Motion/one.mrc");
  const std::string list = write_list("Motion/one.mrc 1 1 1 0 0\nMotion/two.mrc 1 1 1 0 0\n");
  const int wakes = wakes_;
  const Outcome outcome = import_list(list, {"--dry-run"});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.out, HasSubstr("1 would be enqueued, 1 refused"));
  EXPECT_TRUE(get("/v1/items").at("items").empty());
  EXPECT_EQ(wakes_, wakes);
  EXPECT_FALSE(import_list(list, {"--dry-run", "--json"})
                   .document()
                   .at("items")
                   .at(1)
                   .at("item")
                   .contains("id"));
}

TEST_F(CliImportTest, TheProjectsFolderCanBeGiven) {
  write("project/Motion/one.mrc");
  const std::string list =
      write("list.star",
            "data_\n_rlnMicrographName one.mrc\n_rlnDefocusU 1\n_rlnDefocusV 1\n"
            "_rlnDefocusAngle 0\n");
  const Outcome without = import_list(list);
  EXPECT_EQ(without.exit, 4);
  EXPECT_THAT(without.error, HasSubstr(file("one.mrc") + ": cannot open it"));
  EXPECT_EQ(import_list(list, {"--project", file("project/Motion")}).exit, 0);
}

TEST_F(CliImportTest, AListThatCannotBeReadIsNamed) {
  EXPECT_EQ(import_list(file("absent.star")).exit, 4);
  const Outcome other = import_list(write("ctf.txt", "# CTFFind\n1 2 3 4\n"));
  EXPECT_EQ(other.exit, 1);
  EXPECT_THAT(other.error, AllOf(HasSubstr("ctf.txt: neither"), HasSubstr("--ctf")));
  EXPECT_THAT(import_list(write("a.star", "data_\nloop_\n_rlnMicrographName\na.mrc\n")).error,
              HasSubstr("no column _rlnDefocusU"));
}

TEST_F(CliImportTest, AGroupThatIsNotTheCallersIsRefused) {
  const std::string own = write("own.mrc");
  const int exit = as_nobody([&] {
    return margay({"enqueue", own, "--template", "ribosome", "--defocus-u", "1", "--defocus-v", "1",
                   "--group", "no-such-group"})
        .exit;
  });
  if (exit == -1) GTEST_SKIP() << "needs root";
  EXPECT_EQ(exit, 5);
}

TEST(ProjectFolder, WithoutAnyMicrographItIsTheListsOwn) {
  const tests::ScratchFolder folder;
  const std::string list = folder.write("a.star", "");
  EXPECT_EQ(cli::project_folder(list, {{.path = "gone.mrc"}}),
            fs::canonical(folder.path()).string());
}

}  // namespace
}  // namespace scheduler
