// The engine that is built without FFTW, beside the one that has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/io/mrc.h"
#include "tests/integration/small_search.h"

namespace tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class WithoutFftw : public testing::Test {
 protected:
  Finished run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), MARGAY_ENGINE_WITHOUT_FFTW);
    return run_program(arguments, search_.folder());
  }

  SmallSearch search_;
};

TEST_F(WithoutFftw, InfoNamesWhatItHas) {
  EXPECT_THAT(run({"info"}).output, AllOf(HasSubstr("kissfft"), Not(HasSubstr("fftw"))));
}

TEST_F(WithoutFftw, WhatItLacksIsRefusedBeforeTheSearch) {
  search_.write_config();
  const Finished refused = run({"match", "search.yaml", "--backend", "cpu", "--fft", "fftw"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("built without FFTW"), HasSubstr("omit --fft")));
  EXPECT_FALSE(std::filesystem::exists(search_.file("out")));
}

TEST_F(WithoutFftw, ItsSelfTestPasses) {
  const Finished tested = run({"selftest", "--backend", "cpu"});
  EXPECT_EQ(tested.exit_code, 0) << tested.error;
}

// Of noise: the two engines may differ in which of two equal orientations is the best, not in how
// good it is.
TEST_F(WithoutFftw, ItsCorrelationsAreThoseOfTheOther) {
  search_.sections["preprocessing_filters"] = "{whitening_filter: {enabled: true}}";
  search_.sections["orientation_search_config"] = "{psi_step: 30, theta_step: 30, symmetry: C1}";
  ASSERT_EQ(search_.match().exit_code, 0);
  search_.results = "other";
  search_.write_config();
  const Finished searched = run({"match", "search.yaml", "--backend", "cpu", "--threads", "2"});
  ASSERT_EQ(searched.exit_code, 0) << searched.error;
  // The standard deviation of so few correlations is small, and the scaled MIP is divided by it.
  const std::vector<std::pair<std::string, double>> bounds = {
      {"mip", 1e-5}, {"mean", 1e-5}, {"sd", 1e-5}, {"scaled_mip", 1e-4}};
  for (const auto& [map, bound] : bounds) {
    const engine::MrcFile ours = engine::read_mrc(search_.file("other/" + map + ".mrc"));
    const engine::MrcFile wanted = engine::read_mrc(search_.file("out/" + map + ".mrc"));
    ASSERT_EQ(ours.values.size(), wanted.values.size());
    double squares = 0;
    for (size_t i = 0; i < ours.values.size(); ++i) {
      squares += std::pow(ours.values[i] - wanted.values[i], 2);
    }
    EXPECT_LT(std::sqrt(squares / static_cast<double>(ours.values.size())), bound) << map;
  }
}

}  // namespace
}  // namespace tests
