// Each way in which Slurm fails, each point at which the daemon crashes: once each.
#include "tests/integration/slurm_faults.h"

#include "scheduler/crash_point.h"

namespace tests {
namespace {

class SlurmFaults : public ::testing::TestWithParam<CrashAndFault> {};

TEST_P(SlurmFaults, AreSurvivedWithEveryItemSearchedOnce) { expect_once_in_spite_of(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Each, SlurmFaults, ::testing::ValuesIn(short_matrix()), name_of_case);

class SlurmCrashPoint : public ::testing::TestWithParam<std::string> {};

TEST_P(SlurmCrashPoint, IsReachedAndSurvived) { expect_reached(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Each, SlurmCrashPoint, ::testing::ValuesIn(scheduler::crash_point_names()),
                         [](const auto& point) {
                           std::string name = point.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace tests
