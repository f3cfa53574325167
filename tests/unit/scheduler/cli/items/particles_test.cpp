#include "scheduler/cli/items/particles.h"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/read_file.h"
#include "db/results.h"
#include "scheduler/cli/terminal/exit.h"
#include "scheduler/ingest/star.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string kHeader =
    ",particle_index,scaled_mip,mip,pos_x,pos_x_img,pos_y_img,phi,theta,psi,relative_defocus,"
    "defocus_u,"
    "defocus_v,astigmatism_angle,phase_shift,pixel_size,voltage,spherical_aberration,"
    "amplitude_contrast_ratio,micrograph_path\n";

std::string row(const std::string& micrograph, const std::string& pixel_size = "2.0",
                int index = 0) {
  const std::string number = std::to_string(index);
  return number + "," + number +
         ",9.5,11.0,270,334,382,141.25,63.8,77.5,-200.0,10200.0,9800.0,35.0,0.0," + pixel_size +
         ",300.0,2.7,0.07," + micrograph + "\n";
}

std::string particles_star(const std::vector<cli::PeakList>& lists, const std::string& project) {
  cli::ParticlesStar particles(project);
  for (const cli::PeakList& list : lists) particles.add(list);
  return particles.text();
}

std::string joined_csv(const std::vector<cli::PeakList>& lists) {
  cli::JoinedCsv table;
  for (const cli::PeakList& list : lists) table.add(list);
  return table.text();
}

double number(const ingest::StarTable& table, size_t at, const std::string& column) {
  return std::stod(table.rows.at(at).values.at(table.find(column).value()));
}

TEST(ParticlesStar, HasCentresAnglesDefocusAndScore) {
  const std::string text =
      particles_star({{.csv = kHeader + row("/p/Motion/one.mrc"), .name = "item 1"}}, "/p");
  const auto tables = ingest::parse_star(text, "x");
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].name, "optics");
  EXPECT_EQ(number(tables[0], 0, "_rlnMicrographPixelSize"), 2);
  EXPECT_EQ(number(tables[0], 0, "_rlnVoltage"), 300);
  EXPECT_EQ(number(tables[0], 0, "_rlnImageSize"), 128);
  const ingest::StarTable& particles = tables[1];
  EXPECT_EQ(particles.name, "particles");
  EXPECT_EQ(number(particles, 0, "_rlnCoordinateX"), 334);
  EXPECT_EQ(number(particles, 0, "_rlnCoordinateY"), 382);
  EXPECT_EQ(number(particles, 0, "_rlnAngleRot"), 141.25);
  EXPECT_EQ(number(particles, 0, "_rlnAngleTilt"), 63.8);
  EXPECT_EQ(number(particles, 0, "_rlnAnglePsi"), 77.5);
  EXPECT_EQ(number(particles, 0, "_rlnDefocusU"), 10000);
  EXPECT_EQ(number(particles, 0, "_rlnDefocusV"), 9600);
  EXPECT_EQ(number(particles, 0, "_rlnDefocusAngle"), 35);
  EXPECT_EQ(number(particles, 0, "_rlnAutopickFigureOfMerit"), 9.5);
  EXPECT_EQ(particles.rows[0].values.back(), "Motion/one.mrc");
}

TEST(ParticlesStar, MicrographsOfOtherOpticsAreAnotherGroupAndBlanksAreQuoted) {
  const auto tables = ingest::parse_star(
      particles_star({{.csv = kHeader + row("/p/a b.mrc"), .name = "item 1"},
                      {.csv = kHeader + row("/p/c.mrc", "1.0"), .name = "item 2"},
                      {.csv = kHeader + row("/p/d.mrc"), .name = "item 3"}},
                     ""),
      "x");
  EXPECT_EQ(tables.at(0).rows.size(), 2U);
  const ingest::StarTable& particles = tables.at(1);
  EXPECT_EQ(particles.rows.at(0).values.back(), "/p/a b.mrc");
  EXPECT_EQ(number(particles, 0, "_rlnOpticsGroup"), number(particles, 2, "_rlnOpticsGroup"));
  EXPECT_NE(number(particles, 0, "_rlnOpticsGroup"), number(particles, 1, "_rlnOpticsGroup"));
}

TEST(ParticlesStar, AMicrographThatRelionWouldNotReadBackIsNamed) {
  for (const char* name : {"\"/p/a\"\" b' c.mrc\"", "/p/a  b.mrc"}) {
    EXPECT_THAT([&] { particles_star({{.csv = kHeader + row(name), .name = "item 7"}}, "/p"); },
                ThrowsMessage<cli::Failure>(AllOf(HasSubstr("cannot be written into a STAR file"),
                                                  HasSubstr("rename the micrograph"))));
  }
  const std::string text =
      particles_star({{.csv = kHeader + row("\"/p/a\"\"b'c d.mrc\""), .name = "item 7"}}, "/p");
  EXPECT_EQ(ingest::parse_star(text, "x").at(1).rows.at(0).values.back(), "a\"b'c d.mrc");
}

TEST(ParticlesStar, AMissingColumnAndAWrongNumberAreNamed) {
  EXPECT_THAT([] { particles_star({{.csv = "a\n1\n", .name = "item 7"}}, ""); },
              ThrowsMessage<cli::Failure>(HasSubstr("item 7: no column pixel_size")));
  EXPECT_THAT([] { particles_star({{.csv = kHeader + row("/a", "x"), .name = "item 7"}}, ""); },
              ThrowsMessage<cli::Failure>(HasSubstr("column pixel_size: 'x' is not a number")));
}

TEST(JoinedCsv, HasOneHeaderAndRowsNumberedAnew) {
  const std::string first =
      kHeader + row("\"/p/line\nbreak, \"\"x\"\".mrc\"") + row("/b", "2.0", 1);
  const std::string joined = joined_csv({{.csv = first, .name = "item 1"},
                                         {.csv = kHeader, .name = "item 2"},
                                         {.csv = kHeader + row("/c"), .name = "item 3"}});
  EXPECT_EQ(joined, first + row("/c", "2.0", 2));
}

TEST(JoinedCsv, ListsOfOtherColumnsAreRefused) {
  EXPECT_THAT(
      [] {
        joined_csv({{.csv = kHeader, .name = "item 1"}, {.csv = "a,b\n", .name = "item 2"}});
      },
      ThrowsMessage<cli::Failure>(HasSubstr("item 2: has other columns than item 1")));
}

class CliExportTest : public CliTest {
 protected:
  void finish(int64_t item, const std::string& csv) const {
    const db::Attempt attempt = activate(item);
    db::Result result;
    result.item_id = item;
    result.attempt_id = attempt.id;
    result.peaks = 1;
    result.peaks_csv = write("a" + std::to_string(item) + "/peaks.csv", csv);
    result.manifest_path = write("a" + std::to_string(item) + "/manifest.json", "{}");
    result.manifest_json = R"({"outputs": {}, "pictures": {}})";
    db::ResultStore(*database_).insert(result);
    set_state(item, db::ItemState::kDone);
  }
};

TEST_F(CliExportTest, ThePeaksOfALabelGoIntoOneFile) {
  register_template();
  for (const char* name : {"one.mrc", "two.mrc", "three.mrc"}) {
    ASSERT_EQ(margay({"enqueue", write(name), "--template", "ribosome", "--defocus-u", "1",
                      "--defocus-v", "1", "--label", "grid 1"})
                  .exit,
              0);
  }
  finish(1, kHeader + row(file("one.mrc")));
  finish(2, kHeader + row(file("two.mrc")));
  const Outcome outcome = margay({"results", "--label", "grid 1", "--star", file("all.star"),
                                  "--csv", file("all.csv"), "--project", folder_});
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(outcome.out, "2 peaks of 2 items\n");
  EXPECT_THAT(base::read_file(file("all.star")).value(),
              AllOf(HasSubstr(" one.mrc\n"), HasSubstr(" two.mrc\n")));
  EXPECT_EQ(base::read_file(file("all.csv")).value(),
            kHeader + row(file("one.mrc")) + row(file("two.mrc"), "2.0", 1));
  EXPECT_EQ(margay({"results", "all", "--csv", file("both.csv")}).out, "2 peaks of 2 items\n");
  const Outcome some = margay({"results", "1", "3", "--csv", file("some.csv")});
  EXPECT_EQ(some.exit, 3);
  EXPECT_THAT(some.error, HasSubstr("item 3 has no result"));
  EXPECT_EQ(margay({"results", "--label", "other", "--csv", file("none.csv")}).exit, 4);
  EXPECT_FALSE(fs::exists(file("none.csv")));
  EXPECT_EQ(margay({"results", "1", "--label", "x", "--csv", file("none.csv")}).exit, 4);
  EXPECT_EQ(margay({"results", "1", "2"}).exit, 0);
}

TEST_F(CliExportTest, AFileIsNotNamedAsOneOfAnotherKind) {
  for (const auto& [option, name, kind] :
       {std::array{"--star", "all.png", "STAR; end its name with .star"},
        std::array{"--star", "all.csv", "STAR; end its name with .star"},
        std::array{"--csv", "all.star", "CSV; end its name with .csv"}}) {
    const Outcome outcome = margay({"results", "all", option, file(name)});
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_THAT(outcome.error, AllOf(HasSubstr(std::string(option) + ": '" + file(name)),
                                     HasSubstr(std::string("it is written as ") + kind)));
    EXPECT_FALSE(fs::exists(file(name)));
  }
}

TEST_F(CliExportTest, CopiesAreNamedAfterTheMicrographAndTheItem) {
  register_template();
  enqueue("one.mrc");
  finish(1, "pos_x_img,pos_y_img,scaled_mip,mip,phi,theta,psi,relative_defocus\n");
  EXPECT_EQ(margay({"results", "1", "--output-dir", file("out")}).exit, 0);
  EXPECT_TRUE(fs::exists(file("out/one_1_peaks.csv")));
  EXPECT_TRUE(fs::exists(file("out/one_1_manifest.json")));
}

}  // namespace
}  // namespace scheduler
