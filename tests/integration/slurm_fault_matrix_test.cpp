// Every crash point x every fault: a long test.
#include "tests/integration/slurm_faults.h"

namespace tests {
namespace {

class SlurmFaultMatrix : public ::testing::TestWithParam<CrashAndFault> {};

TEST_P(SlurmFaultMatrix, IsSurvivedWithEveryItemSearchedOnce) {
  expect_once_in_spite_of(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Every, SlurmFaultMatrix, ::testing::ValuesIn(whole_matrix()),
                         name_of_case);

}  // namespace
}  // namespace tests
