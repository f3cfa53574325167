// The real program writes micrographs and projections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "engine/io/mrc.h"
#include "tests/integration/engine_program.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(EngineProgram, ASeedIsADecimalNumber) {
  const auto made = [&](const std::string& seed) {
    EXPECT_EQ(run({"simulate", "--template", "template.mrc", "--output", "made.mrc", "--size", "64",
                   "--count", "1", "--overwrite", "--seed", seed})
                  .exit_code,
              0);
    return read(search_.file("made.mrc"));
  };
  EXPECT_EQ(made("08"), made("8"));
  EXPECT_NE(made("9"), made("8"));
}

TEST_F(EngineProgram, NoFileIsWrittenUnderTheNameOfAnotherKind) {
  search_.write_config();
  const std::string mrc = "it is written as MRC; end its name with .mrc";
  const std::string csv = "it is written as CSV; end its name with .csv";
  const std::vector<std::tuple<std::vector<std::string>, std::string, std::string>> cases = {
      {{"project", "template.mrc", "--output"}, "view.png", mrc},
      {{"project", "template.mrc", "--output"}, "view.mrc.gz", mrc},
      {{"simulate", "--template", "template.mrc", "--output"}, "made.png", mrc},
      {{"simulate", "--template", "template.mrc", "--output", "m.mrc", "--truth"}, "t.mrc", csv},
      {{"peaks", "search.yaml", "--output"}, "list.png", csv},
      {{"scale", "--output"}, "table.png", csv}};
  for (const auto& [command, name, words] : cases) {
    std::vector<std::string> arguments = command;
    arguments.push_back(name);
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2) << name;
    EXPECT_THAT(refused.error, HasSubstr(command.back() + ": '" + name + "' would be no "));
    EXPECT_THAT(refused.error, HasSubstr(words));
    EXPECT_FALSE(std::filesystem::exists(search_.file(name)));
  }
  EXPECT_EQ(run({"project", "template.mrc", "--output", "view"}).exit_code, 0);
}

TEST_F(EngineProgram, ProjectionsOfTwoDirectionsDiffer) {
  const auto project = [&](const std::string& theta, const std::string& name) {
    EXPECT_EQ(run({"project", "template.mrc", "--theta", theta, "--output", name}).exit_code, 0);
    return engine::read_mrc(search_.file(name));
  };
  const auto along_z = project("0", "z.mrc");
  const auto along_x = project("90", "x.mrc");
  EXPECT_EQ(along_z.header.nx, 16);
  EXPECT_DOUBLE_EQ(along_z.header.pixel_size[0], 2.0);
  EXPECT_NE(along_z.values, along_x.values);
  // Density is dark, and the particle is in the middle.
  EXPECT_LT(along_z.values[8 * 16 + 8], along_z.values[0]);
}

TEST_F(EngineProgram, SimulatePlantsTheParticlesOfAList) {
  const std::string list = "x_px,y_px,phi_deg,theta_deg,psi_deg,defocus_offset_A\n";
  std::ofstream(search_.file("wanted.csv")) << list << "20.5,30.25,10,20,30,100\n";
  const std::vector<std::string> command = {"simulate",   "--template", "template.mrc",
                                            "--size",     "64",         "--particles",
                                            "wanted.csv", "--output",   "made.mrc"};
  const Finished made = run(command);
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_THAT(made.error, HasSubstr("1 particle in "));
  EXPECT_THAT(read(search_.file("made_truth.csv")), HasSubstr("20.5000,30.2500,10.0000,20.0000"));
  EXPECT_EQ(engine::read_mrc_header(search_.file("made.mrc")).nx, 64);
  EXPECT_EQ(run(command).exit_code, 64) << "an existing micrograph was replaced";
}

TEST_F(EngineProgram, SimulateRefusesParticlesThatCannotBePlanted) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"3,30,10,20,30,0", "does not lie inside"},
      {"30,30,ten,20,30,0", "phi_deg of particle 1 is 'ten'"},
      {"30,nan,10,20,30,0", "y_px of particle 1 is 'nan'"},
      {"30,30,10,20,30", "no column defocus_offset_A"}};
  for (const auto& [row, word] : cases) {
    std::ofstream(search_.file("wanted.csv"))
        << "x_px,y_px,phi_deg,theta_deg,psi_deg,defocus_offset_A\r\n"
        << row << "\r\n\r\n";
    const Finished refused = run({"simulate", "--template", "template.mrc", "--particles",
                                  "wanted.csv", "--output", "other.mrc"});
    EXPECT_EQ(refused.exit_code, 64) << row;
    EXPECT_THAT(refused.error, HasSubstr(word));
  }
  engine::Volume empty = small_template();
  for (float& voxel : empty.voxels) voxel = 0;
  engine::write_mrc(search_.file("empty.mrc"), empty, 2.0);
  EXPECT_THAT(run({"simulate", "--template", "empty.mrc", "--output", "other.mrc"}).error,
              HasSubstr("nothing to plant"));
  EXPECT_FALSE(std::filesystem::exists(search_.file("other.mrc")));
}

}  // namespace
}  // namespace tests
