// The parts of the CUDA backend that are pure: what errors mean, memory, transforms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/backend/transforms.h"
#include "engine/comm/factory.h"
#include "engine/comm/nccl_memory.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/cuda/error_codes.h"
#include "engine/cuda/errors.h"
#include "engine/search/device.h"

namespace engine::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

FaultReport report(Fault fault, int code) {
  return {.fault = fault,
          .code = code,
          .words = "the runtime's words",
          .activity = "kernel accumulate",
          .device = "device 1, NVIDIA H200 (sm_90)",
          .driver = "12.4",
          .toolkit = "13.0"};
}

TEST(CudaFaults, NoDriverAndAnOldOneAreDistinguished) {
  EXPECT_EQ(fault_of_runtime(kInsufficientDriver, 0), Fault::kNoDriver);
  EXPECT_EQ(fault_of_runtime(kInsufficientDriver, 12040), Fault::kDriverTooOld);
  EXPECT_EQ(fault_of_runtime(kSystemDriverMismatch, 13000), Fault::kDriverTooOld);
  FaultReport r = report(Fault::kNoDriver, kInsufficientDriver);
  r.device.clear();
  EXPECT_THAT(describe_fault(r).what(), AllOf(HasSubstr("no NVIDIA driver"), HasSubstr("--gpus"),
                                              HasSubstr("--backend cpu"), Not(HasSubstr("H200"))));
  EXPECT_THAT(describe_fault(report(Fault::kDriverTooOld, kInsufficientDriver)).what(),
              AllOf(HasSubstr("serves CUDA 12.4"), HasSubstr("needs 13.0"), HasSubstr("update")));
}

TEST(CudaFaults, EachKindHasItsCodesAndItsAdvice) {
  const struct {
    std::vector<int> codes;
    Fault fault;
    std::string advice;
  } kinds[] = {
      {{kNoDeviceFound, kInvalidDevice}, Fault::kNoDevice, "CUDA_VISIBLE_DEVICES"},
      {{kDevicesUnavailable, kMpsMaxClientsReached}, Fault::kDeviceBusy, "try again later"},
      {{kNoKernelImageForDevice, kInvalidPtx, kInvalidDeviceFunction},
       Fault::kNoKernelImage,
       "CMAKE_CUDA_ARCHITECTURES"},
      {{kEccUncorrectable, kLaunchFailure, kUnknownError, kExternalDevice, kHardwareStackError},
       Fault::kDeviceLost,
       "Xid"},
      {{kIllegalAddress, kInvalidValue, kInvalidConfiguration, kMisalignedAddress},
       Fault::kBug,
       "report it"},
      {{12345}, Fault::kOther, "nvidia-smi"}};
  for (const auto& kind : kinds) {
    for (const int code : kind.codes) {
      EXPECT_EQ(fault_of_runtime(code, 13000), kind.fault) << code;
    }
    const Error error = describe_fault(report(kind.fault, kind.codes.front()));
    EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr(kind.advice), HasSubstr("device 1, NVIDIA H200 (sm_90)"),
                      HasSubstr("kernel accumulate"), HasSubstr("the runtime's words"),
                      HasSubstr("code " + std::to_string(kind.codes.front()))));
  }
}

TEST(CudaFaults, AFullDeviceHasAnExitCodeOfItsOwn) {
  EXPECT_EQ(fault_of_runtime(kMemoryAllocation, 13000), Fault::kOutOfMemory);
  EXPECT_EQ(fault_of_transforms(kTransformAllocFailed), Fault::kOutOfMemory);
  EXPECT_EQ(fault_of_transforms(kTransformExecFailed), Fault::kDeviceLost);
  const Error error = describe_fault(report(Fault::kOutOfMemory, kMemoryAllocation));
  EXPECT_EQ(error.code(), ExitCode::kDeviceMemory);
  EXPECT_THAT(error.what(), HasSubstr("--batch"));
}

constexpr ProblemShape kLarge{4096, 4096, 512, 13, 1584000};

TEST(CudaMemory, ShrinksTheBatchUntilItFitsAndNothingThatDecidesBits) {
  const MemoryPlan whole = plan_memory(kLarge, 64);
  EXPECT_EQ(whole.batch, 64);
  const MemoryPlan shrunk = plan_memory(kLarge, 64, 0, whole.total() - (uint64_t{1} << 30));
  EXPECT_LT(shrunk.batch, 64);
  EXPECT_LE(shrunk.total(), whole.total() - (uint64_t{1} << 30));
  EXPECT_EQ(shrunk.transforms, whole.transforms);
  EXPECT_EQ(shrunk.projections, whole.projections);
  const MemoryPlan tiny = plan_memory(kLarge, 64, 0, 1000);
  EXPECT_EQ(tiny.batch, 1);
  EXPECT_GT(tiny.total(), 1000u) << "the caller has to see that it does not fit";
}

TEST(CudaMemory, CutsTheWorkByTheShapeAlone) {
  ProblemShape few = kLarge;
  few.orientations = 50;
  few.planes = 1;
  EXPECT_EQ(plan_memory(few, 7).transforms, plan_memory(kLarge, 0).transforms);
  EXPECT_EQ(plan_memory(few, 7).projections, plan_memory(kLarge, 0).projections);
  EXPECT_EQ(plan_memory(few, 1000).batch, 50) << "there are no more units";
}

TEST(CudaMemory, CountsTheWorkSpaceOfTheTransforms) {
  EXPECT_EQ(plan_memory(kLarge, 4, 123456789).total(), plan_memory(kLarge, 4).total() + 123456789);
}

TEST(CudaMemory, CountsWhatTheExchangeWithOtherRanksTakes) {
  constexpr uint64_t kExchange = 987654321;
  const MemoryPlan alone = plan_memory(kLarge, 64);
  const MemoryPlan together = plan_memory(kLarge, 64, 0, 0, kExchange);
  EXPECT_EQ(together.total(), alone.total() + kExchange);
  EXPECT_EQ(together.items.back().name, "exchange with other ranks");
  const MemoryPlan shrunk = plan_memory(kLarge, 64, 0, alone.total(), kExchange);
  EXPECT_LT(shrunk.batch, 64);
  EXPECT_LE(shrunk.total(), alone.total());
}

TEST(CudaMemory, FillsTheLastPlanOfBackTransforms) {
  MemoryPlan plan = plan_memory(kLarge, 3);
  plan.projections = 8;
  EXPECT_EQ(projection_slots(kLarge, plan), 40);
}

TEST(CudaTransforms, PairsShareOneAndThePlanesOfSinglesTwoByTwo) {
  const std::vector<Unit> units = {{5, 9}, {6, -1}};
  const std::vector<Transform> list = list_transforms(units, 3, 100);
  ASSERT_EQ(list.size(), 5u);
  const auto expect = [&](size_t at, int a, int b, int first, int second) {
    EXPECT_EQ(list[at].a, a) << at;
    EXPECT_EQ(list[at].b, b) << at;
    EXPECT_EQ(list[at].first, first) << at;
    EXPECT_EQ(list[at].second, second) << at;
  };
  expect(0, 0, 0, 5, 9);
  expect(1, 1, 1, 105, 109);
  expect(2, 2, 2, 205, 209);
  expect(3, 3, 4, 6, 106);
  expect(4, 5, -1, 206, -1);
}

}  // namespace
}  // namespace engine::cuda

namespace engine {
namespace {

TEST(Devices, OnlySeveralRanksThatExchangeByNcclTakeMemoryForIt) {
  EXPECT_EQ(exchange_memory("nccl", 1), 0u);
  EXPECT_EQ(exchange_memory("gloo", 4), 0u);
  EXPECT_GT(exchange_memory("nccl", 2), comm::kNcclStage);
  EXPECT_EQ(exchange_memory("auto", 2), comm::has_nccl() ? exchange_memory("nccl", 2) : 0u);
}

TEST(Devices, WhatTheConfigurationAsksForInVainIsSaid) {
  const DevicePlan cpu{.backend = "cpu"};
  const DevicePlan cuda{.backend = "cuda", .device = 3};
  EXPECT_EQ(devices_note(cpu, {"cpu"}), "");
  EXPECT_THAT(devices_note(cpu, {"0"}), testing::HasSubstr("runs on the processor"));
  EXPECT_EQ(devices_note(cuda, {"3"}), "");
  EXPECT_THAT(devices_note(cuda, {"3", "4"}), testing::HasSubstr("device 3 alone"));
  EXPECT_THAT(devices_note(cuda, {"cpu"}), testing::HasSubstr("--backend cpu"));
}

}  // namespace
}  // namespace engine
