#include "engine/numerics/orientations.h"

#include <gtest/gtest.h>

#include <ostream>
#include <set>

#include "engine/error.h"

namespace engine {
namespace {

struct CountCase {
  const char* symmetry;
  double theta_step, psi_step;
  BaseGrid grid;
  int64_t count;
};

void PrintTo(const CountCase& c, std::ostream* out) {
  *out << c.symmetry << " " << c.theta_step << "/" << c.psi_step;
}

class Counts : public testing::TestWithParam<CountCase> {};

TEST_P(Counts, AreTheReferenceGridsExactly) {
  const CountCase& c = GetParam();
  const OrientationGrid grid{.psi_step = c.psi_step,
                             .theta_step = c.theta_step,
                             .base_grid = c.grid,
                             .symmetry = c.symmetry};
  EXPECT_EQ(count_orientations({grid}), c.count);
  if (c.count < 1000000) {
    EXPECT_EQ(static_cast<int64_t>(make_orientations({grid}).orientations.size()), c.count);
  }
}

INSTANTIATE_TEST_SUITE_P(OfLeopardEm, Counts,
                         testing::Values(CountCase{"C1", 2.5, 1.5, BaseGrid::kUniform, 1584480},
                                         CountCase{"C2", 2.5, 1.5, BaseGrid::kUniform, 793920},
                                         CountCase{"C3", 2.5, 1.5, BaseGrid::kUniform, 528000},
                                         CountCase{"C4", 2.5, 1.5, BaseGrid::kUniform, 396480},
                                         CountCase{"C6", 2.5, 1.5, BaseGrid::kUniform, 264000},
                                         CountCase{"C7", 2.5, 1.5, BaseGrid::kUniform, 226800},
                                         CountCase{"D1", 2.5, 1.5, BaseGrid::kUniform, 809520},
                                         CountCase{"D2", 2.5, 1.5, BaseGrid::kUniform, 405600},
                                         CountCase{"D3", 2.5, 1.5, BaseGrid::kUniform, 269760},
                                         CountCase{"D7", 2.5, 1.5, BaseGrid::kUniform, 115920},
                                         CountCase{"T", 2.5, 1.5, BaseGrid::kUniform, 176400},
                                         CountCase{"O", 2.5, 1.5, BaseGrid::kUniform, 88320},
                                         CountCase{"I", 2.5, 1.5, BaseGrid::kUniform, 67200},
                                         CountCase{"C1", 2.5, 1.5, BaseGrid::kHealpix, 1658880},
                                         CountCase{"C1", 2.5, 1.5, BaseGrid::kCartesian, 2488320},
                                         CountCase{"C1", 2, 1, BaseGrid::kUniform, 3714480},
                                         CountCase{"C1", 3, 2, BaseGrid::kUniform, 825480},
                                         CountCase{"C1", 4, 4, BaseGrid::kUniform, 232740},
                                         CountCase{"C1", 5, 3, BaseGrid::kUniform, 198240},
                                         CountCase{"C1", 10, 10, BaseGrid::kUniform, 14832},
                                         CountCase{"C1", 90, 90, BaseGrid::kUniform, 24}));

TEST(Orientations, ComeWithPsiSlowestThenThetaThenPhi) {
  const OrientationList list =
      make_orientations({OrientationGrid{.psi_step = 90, .theta_step = 90}});
  const std::vector<std::pair<float, float>> base = {{0, 0},    {0, 90},   {90, 90},
                                                     {180, 90}, {270, 90}, {0, 180}};
  ASSERT_EQ(list.orientations.size(), 24u);
  for (size_t i = 0; i < 24; ++i) {
    EXPECT_FLOAT_EQ(list.orientations[i].phi, base[i % 6].first) << i;
    EXPECT_FLOAT_EQ(list.orientations[i].theta, base[i % 6].second) << i;
    EXPECT_FLOAT_EQ(list.orientations[i].psi, 90.0f * static_cast<float>(i / 6)) << i;
  }
}

TEST(Orientations, KeepTheDuplicateDirectionAtTheta25) {
  const OrientationList list = make_orientations({OrientationGrid{}});
  EXPECT_EQ(list.grids[0].base_count, 6602);
  int at_full_turn = 0;
  for (int64_t i = 0; i < list.grids[0].base_count; ++i) {
    at_full_turn += list.orientations[static_cast<size_t>(i)].phi >= 360.0f - 1e-4f ? 1 : 0;
  }
  EXPECT_EQ(at_full_turn, 2);
}

TEST(Orientations, OfSeveralGridsAreJoinedInOrder) {
  const OrientationGrid a{.psi_step = 90, .theta_step = 90};
  const OrientationGrid b{.psi_step = 120, .theta_step = 60, .symmetry = "C3"};
  const OrientationList list = make_orientations({a, b});
  EXPECT_EQ(list.grids[1].first, 24);
  EXPECT_EQ(static_cast<int64_t>(list.orientations.size()),
            24 + list.grids[1].base_count * list.grids[1].psi_count);
  EXPECT_EQ(static_cast<int64_t>(list.orientations.size()), count_orientations({a, b}));
}

TEST(Orientations, OfAnUnknownSymmetryAreRefusedByName) {
  try {
    make_orientations({OrientationGrid{.symmetry = "X3"}});
    FAIL() << "X3 was accepted";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("X3"), std::string::npos);
  }
}

TEST(Orientations, TooManyToSearchAreRefusedBeforeTheyAreMade) {
  using enum BaseGrid;
  for (const BaseGrid base : {kUniform, kHealpix, kCartesian}) {
    for (const double step : {1e-9, 1e-300}) {
      EXPECT_THROW(count_orientations({{.theta_step = step, .base_grid = base}}), InputError)
          << step;
    }
  }
  for (const double step : {1e-9, 1e-300}) {
    EXPECT_THROW(count_orientations({{.psi_step = step, .theta_step = 90}}), InputError) << step;
  }
  const OrientationGrid many{.psi_step = 1e-6, .theta_step = 90};  // 360 million x 6
  EXPECT_THROW(count_orientations({many}), InputError);
}

TEST(RotationMatrix, IsTheOneOfTheReference) {
  const Rotation r = rotation_matrix(30, 40, 50);
  const Rotation want = {0.04341204, -0.82959837, 0.5566704,  0.90961589, 0.26325835,
                         0.3213938,  -0.41317591, 0.49240388, 0.76604444};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(r[i], want[i], 1e-7) << i;
  EXPECT_NEAR(rotation_distance(r, rotation_matrix(30, 40, 57)), 7.0, 1e-6);
}

TEST(Units, PairHalfTurnsAndCoverEveryOrientationOnce) {
  for (const double psi_step : {3.0, 90.0, 7.0, 180.0, 0.7}) {
    const OrientationList list = make_orientations(
        {OrientationGrid{.psi_step = psi_step, .theta_step = 60},
         OrientationGrid{
             .psi_step = 3, .theta_step = 60, .symmetry = std::nullopt, .psi = {.max = 270}}});
    for (const bool may_pair : {false, true}) {
      std::set<int64_t> seen;
      for (const Unit& unit : make_units(list, may_pair)) {
        EXPECT_TRUE(seen.insert(unit.first).second);
        if (unit.second < 0) continue;
        EXPECT_TRUE(may_pair);
        EXPECT_TRUE(seen.insert(unit.second).second);
        const Orientation& a = list.orientations[static_cast<size_t>(unit.first)];
        const Orientation& b = list.orientations[static_cast<size_t>(unit.second)];
        EXPECT_EQ(a.phi, b.phi);
        EXPECT_EQ(a.theta, b.theta);
        EXPECT_NEAR(b.psi - a.psi, 180.0f, 1e-4f);
      }
      EXPECT_EQ(seen.size(), list.orientations.size());
    }
  }
}

TEST(Units, AreAllPairsWhenTheStepDividesAHalfTurnAndNoneWhenItDoesNot) {
  const auto units = [](double psi_step) {
    return make_units(make_orientations({OrientationGrid{.psi_step = psi_step, .theta_step = 60}}),
                      true);
  };
  for (const Unit& unit : units(1.5)) EXPECT_GE(unit.second, 0);
  for (const Unit& unit : units(7.0)) EXPECT_LT(unit.second, 0);
}

}  // namespace
}  // namespace engine
