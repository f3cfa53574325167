// Ranks that mpirun started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/unit/engine/launch/rank_cases.h"

namespace engine {
namespace {

TEST(Ranks, OpenMpiSaysWhoAProcessIs) {
  const RankPlace place = find(open_mpi());
  EXPECT_EQ(place.launcher, Launcher::kOpenMpi);
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.size, 4);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.local_size, 4);
  EXPECT_EQ(describe_rank(place), "rank 1 of 4 (Open MPI)");
}

TEST(Ranks, OnOneHostOpenMpiNeedsNoRendezvous) {
  const RankPlace place = find(open_mpi());
  EXPECT_EQ(place.rendezvous.host, "127.0.0.1");
  EXPECT_GE(place.rendezvous.port, 10000);
  const RankPlace other = find(with(open_mpi(), {{"PMIX_NAMESPACE", "prterun-host-124@1"}}));
  EXPECT_NE(other.rendezvous.port, place.rendezvous.port);
  EXPECT_NE(other.nonce, place.nonce);
  const RankPlace older = find(
      with(without(open_mpi(), "PMIX_NAMESPACE"), {{"OMPI_MCA_ess_base_jobid", "3482517505"}}));
  EXPECT_GE(older.rendezvous.port, 10000);
  EXPECT_THAT(refusal(without(open_mpi(), "PMIX_NAMESPACE")), testing::HasSubstr("MASTER_PORT"));
}

TEST(Ranks, OnSeveralHostsOpenMpiNeedsARendezvous) {
  const Variables wide = with(open_mpi(), {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_THAT(refusal(wide), testing::AllOf(testing::HasSubstr("MASTER_ADDR"),
                                            testing::HasSubstr("--rendezvous file:PATH")));
  EXPECT_EQ(find(wide, {.rendezvous = "file:/scratch/a"}).rendezvous.file, "/scratch/a");
  EXPECT_EQ(find(with(wide, {{"MASTER_ADDR", "n1"}})).rendezvous.host, "n1");
}

TEST(Ranks, WhatOpenMpiLeavesOutIsNamed) {
  expect_needed(open_mpi(), {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                             "OMPI_COMM_WORLD_LOCAL_SIZE"});
}

}  // namespace
}  // namespace engine
