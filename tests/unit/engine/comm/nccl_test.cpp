// The message for ranks on CUDA devices where there is none. With one: tests/gpu/nccl_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/comm/factory.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"
#include "tests/require.h"

namespace engine::comm {
namespace {

class EmptyStore : public Store {
 public:
  void put(const std::string&, const std::vector<char>&) override {
    ADD_FAILURE() << "rank 0 published a device that is not there";
  }
  std::vector<char> get(const std::string&) override {
    throw CommunicatorLost("another rank was asked although there is no device");
  }
};

TEST(Nccl, SaysThatThereIsNoSuchDevice) {
  if (!has_nccl()) MARGAY_SKIP_FOR_WANT_OF("nccl", "libnccl.so.2 is not installed");
  const int none = cuda::visible_devices();
  EmptyStore store;
  for (const int rank : {0, 1}) {
    try {
      make_nccl({.rank = rank, .size = 2, .name = "run", .addresses = {"127.0.0.1"}}, store, none);
      FAIL() << "made without a device";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
      EXPECT_THAT(error.what(), testing::HasSubstr("device"));
    }
  }
}

}  // namespace
}  // namespace engine::comm
