// Each way in which Slurm fails, once.
#include "tests/integration/slurm_faults.h"

namespace tests {
namespace {

class SlurmFaults : public ::testing::TestWithParam<CrashAndFault> {};

TEST_P(SlurmFaults, AreSurvivedWithEveryItemSearchedOnce) { expect_once_in_spite_of(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Each, SlurmFaults, ::testing::ValuesIn(faults_alone()), name_of_case);

}  // namespace
}  // namespace tests
