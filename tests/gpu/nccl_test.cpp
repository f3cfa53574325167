// One rank through the real calls of NCCL. Several need several devices.
#include <gtest/gtest.h>

#include "engine/comm/factory.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"
#include "tests/require.h"
#include "tests/scratch_folder.h"
#include "tests/unit/engine/comm/communicator_cases.h"

namespace tests {
namespace {

TEST(NcclOnGpu, GivesBackWhatOneRankPutsIn) {
  try {
    engine::cuda::require_device(0);
  } catch (const engine::Error& error) {
    MARGAY_SKIP_FOR_WANT_OF("gpu", error.what());
  }
  if (!engine::comm::has_nccl()) GTEST_SKIP() << "this build has no NCCL";
  const ScratchFolder scratch;
  FolderStore store(scratch.path());
  const auto communicator =
      engine::comm::make_nccl({.name = "run", .addresses = {"127.0.0.1"}}, store, 0);
  EXPECT_EQ(communicator->name(), "nccl");
  EXPECT_EQ(communicator->size(), 1);
  EXPECT_EQ(fault_of_all_collectives(*communicator), "");
  // More than lies on the device at once.
  EXPECT_EQ(fault_of_collectives(*communicator, 12'000'001), "");
}

}  // namespace
}  // namespace tests
