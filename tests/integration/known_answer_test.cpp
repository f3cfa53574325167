// Searches whose answer is known: particles projected from atoms, so that a wrong handedness of our
// own slices cannot agree with itself.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/config/config_reader.h"
#include "engine/io/mrc.h"
#include "engine/numerics/simulate.h"
#include "engine/search/selftest.h"
#include "tests/reference.h"
#include "tests/run_search.h"

namespace tests {
namespace {

constexpr double kOneStep = 5.0;  // degrees, of lsu_crop.yaml's fine grids
constexpr double kCertain = 8.0;  // z that no false peak comes near

std::string data_path(const std::string& file) {
  return std::string(MARGAY_TEST_DATA) + "/" + file;
}

TEST(KnownAnswer, ParticlesMadeFromAtomsAreFoundInPlaceAndPose) {
  const engine::SearchConfig config = engine::read_search_config(data_path("lsu_crop.yaml"));
  const std::vector<Particle> found = particles_of(search(config, MARGAY_TEST_DATA));
  const std::vector<Particle> truth = read_truth(data_path("lsu_crop_truth.csv"));
  ASSERT_EQ(truth.size(), 2u);
  EXPECT_EQ(found.size(), truth.size()) << "a false peak, or a particle is missed";
  for (const Particle& particle : truth) {
    const auto ours = nearest(found, particle);
    ASSERT_TRUE(ours) << "nothing near " << particle.x << ", " << particle.y;
    EXPECT_LT(std::abs(ours->x - particle.x), 1.0);
    EXPECT_LT(std::abs(ours->y - particle.y), 1.0);
    EXPECT_LT(pose_distance(*ours, particle), kOneStep);
    EXPECT_GT(ours->z, kCertain);
  }
}

TEST(KnownAnswer, SimulatedParticlesAreFoundInPlaceAndPose) {
  engine::SearchConfig config = engine::read_search_config(data_path("lsu_crop.yaml"));
  const engine::Volume volume =
      engine::to_volume(engine::read_mrc(data_path(config.template_volume_path)));
  // Off the grid, each inside one of its fine parts.
  const engine::Simulation made =
      engine::simulate(volume, config.optics,
                       {.height = 256,
                        .width = 320,
                        .particles = 3,
                        .seed = 4,
                        .z = 20.0,
                        .defocus_offsets = {0.0f, 200.0f},
                        .orientations = {{191.3f, 54.6f, 320.7f}, {128.9f, 81.2f, 269.4f}}});
  const engine::Maps maps = search_image(config, made.micrograph, MARGAY_TEST_DATA);
  const std::vector<Particle> found = particles_of(maps);
  ASSERT_EQ(made.truth.size(), 3u);
  for (const engine::PlantedParticle& planted : made.truth) {
    const Particle truth{.x = planted.x,
                         .y = planted.y,
                         .phi = planted.phi,
                         .theta = planted.theta,
                         .psi = planted.psi};
    const auto ours = nearest(found, truth);
    ASSERT_TRUE(ours) << "nothing near " << truth.x << ", " << truth.y;
    EXPECT_LE(std::abs(ours->x - truth.x), 1.0);
    EXPECT_LE(std::abs(ours->y - truth.y), 1.0);
    EXPECT_LT(pose_distance(*ours, truth), kOneStep);
    EXPECT_LE(std::abs(ours->relative_defocus - planted.defocus_offset), 200.0);
    EXPECT_GT(ours->z, kCertain);
  }
}

// Shows that the first test distinguishes hands: slices of the wrong hand would match these.
TEST(KnownAnswer, TheMirroredMicrographHoldsNoParticle) {
  const engine::SearchConfig config = engine::read_search_config(data_path("lsu_crop.yaml"));
  const engine::Image original = read_image(data_path("lsu_crop.mrc"));
  engine::Image mirrored(original.height, original.width);
  for (int row = 0; row < original.height; ++row) {
    for (int column = 0; column < original.width; ++column) {
      mirrored.at(row, column) = original.at(row, original.width - 1 - column);
    }
  }
  for (const Particle& peak : particles_of(search_image(config, mirrored, MARGAY_TEST_DATA))) {
    EXPECT_LT(peak.z, kCertain - 1.0) << "at " << peak.x << ", " << peak.y;
  }
}

TEST(Selftest, FindsWhatWasPlantedInACropMadeFromAtoms) {
  const engine::SelftestResult result = engine::run_selftest(MARGAY_TEST_DATA, {.backend = "cpu"});
  EXPECT_TRUE(result.passed) << testing::PrintToString(result.lines);
}

}  // namespace
}  // namespace tests
