// Each point at which the daemon crashes: by itself, and while Slurm fails.
#include "scheduler/crash_point.h"
#include "tests/integration/slurm_faults.h"

namespace tests {
namespace {

class SlurmCrashPoint : public ::testing::TestWithParam<std::string> {};

TEST_P(SlurmCrashPoint, IsReachedAndSurvived) { expect_reached(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Each, SlurmCrashPoint, ::testing::ValuesIn(scheduler::crash_point_names()),
                         [](const auto& point) {
                           std::string name = point.param;
                           std::erase(name, '-');
                           return name;
                         });

class SlurmCrashAndFault : public ::testing::TestWithParam<CrashAndFault> {};

TEST_P(SlurmCrashAndFault, AreSurvivedWithEveryItemSearchedOnce) {
  expect_once_in_spite_of(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Each, SlurmCrashAndFault, ::testing::ValuesIn(crashes_with_a_fault()),
                         name_of_case);

}  // namespace
}  // namespace tests
