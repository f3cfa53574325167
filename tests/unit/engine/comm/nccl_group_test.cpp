// What a rank does with its group, over an NCCL and a device that are played here. With real ones:
// tests/gpu/nccl_test.cpp.
#include "engine/comm/nccl_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "engine/error.h"

namespace engine::comm {
namespace {

using testing::HasSubstr;

enum class Ended { kNo, kDestroyed, kAborted };

// Plays NCCL for one rank. Communicators that have ended are kept, so that a call with one is seen.
struct PlayedNccl {
  std::map<ncclComm_t, Ended> communicators;
  std::vector<size_t> counts;               // of each collective
  ncclResult_t first_answer = ncclSuccess;  // of every call that begins something
  std::deque<ncclResult_t> later_answers;   // of the questions after it; the last one stays
  int finalized = 0;
  int called_after_end = 0;

  void look_at(ncclComm_t communicator) {
    const auto known = communicators.find(communicator);
    if (known == communicators.end() || known->second != Ended::kNo) ++called_after_end;
  }
  Ended ended() const { return communicators.begin()->second; }
};
// NCCL's functions have no argument to pass it by.
PlayedNccl* played = nullptr;

ncclResult_t collective(size_t count, ncclComm_t communicator) {
  played->look_at(communicator);
  played->counts.push_back(count);
  return played->first_answer;
}

NcclFunctions functions_of_played() {
  NcclFunctions nccl;
  nccl.get_unique_id = [](ncclUniqueId* id) {
    std::memset(id->internal, 7, sizeof id->internal);
    return ncclSuccess;
  };
  nccl.init_rank = [](ncclComm_t* communicator, int, ncclUniqueId, int, ncclConfig_t*) {
    *communicator = reinterpret_cast<ncclComm_t>(&played->communicators);
    played->communicators[*communicator] = Ended::kNo;
    return played->first_answer;
  };
  nccl.get_async_error = [](ncclComm_t communicator, ncclResult_t* result) {
    played->look_at(communicator);
    *result = played->later_answers.empty() ? ncclSuccess : played->later_answers.front();
    if (played->later_answers.size() > 1) played->later_answers.pop_front();
    return ncclSuccess;
  };
  nccl.finalize = [](ncclComm_t communicator) {
    played->look_at(communicator);
    ++played->finalized;
    return played->first_answer;
  };
  nccl.destroy = [](ncclComm_t communicator) {
    played->look_at(communicator);
    played->communicators[communicator] = Ended::kDestroyed;
    return ncclSuccess;
  };
  nccl.abort = [](ncclComm_t communicator) {
    played->look_at(communicator);
    played->communicators[communicator] = Ended::kAborted;
    return ncclSuccess;
  };
  nccl.error_string = [](ncclResult_t) { return "remote process exited"; };
  nccl.last_error = [](ncclComm_t) { return "peer 1 closed its connection"; };
  nccl.broadcast = [](const void*, void*, size_t count, ncclDataType_t, int,
                      ncclComm_t communicator,
                      cudaStream_t) { return collective(count, communicator); };
  nccl.reduce = [](const void*, void*, size_t count, ncclDataType_t, ncclRedOp_t, int,
                   ncclComm_t communicator,
                   cudaStream_t) { return collective(count, communicator); };
  return nccl;
}

// The host's memory in place of a device's; it fails from a call on.
class PlayedStage : public NcclStage {
 public:
  explicit PlayedStage(int calls_until_fault) : calls_until_fault_(calls_until_fault) {}

  size_t size() const override { return memory_.size(); }
  void* memory() const override { return const_cast<std::byte*>(memory_.data()); }
  cudaStream_t stream() const override { return nullptr; }
  void take_device() override {}
  void put(const void* from, size_t bytes) override {
    call();
    std::memcpy(memory_.data(), from, bytes);
  }
  void get(void* to, size_t bytes) override {
    call();
    std::memcpy(to, memory_.data(), bytes);
  }
  bool idle() override {
    call();
    return true;
  }

 private:
  void call() {
    if (calls_until_fault_-- == 0) throw Error(ExitCode::kDeviceFault, "device 0 fell off the bus");
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(64);
  int calls_until_fault_;
};

class OneValue : public Store {
 public:
  void put(const std::string&, const std::vector<char>& value) override { value_ = value; }
  std::vector<char> get(const std::string&) override { return value_; }

 private:
  std::vector<char> value_ = std::vector<char>(NCCL_UNIQUE_ID_BYTES, 7);
};

constexpr int kNever = 1 << 30;

class NcclGroupTest : public testing::Test {
 protected:
  NcclGroupTest() { played = &nccl_; }
  ~NcclGroupTest() override {
    EXPECT_EQ(nccl_.called_after_end, 0) << "NCCL was called with a communicator that had ended";
    played = nullptr;
  }

  std::unique_ptr<Communicator> group(int rank = 0, int calls_until_fault = kNever) {
    OneValue store;
    return make_nccl_group({.rank = rank,
                            .size = 2,
                            .name = "run",
                            .timeout = std::chrono::milliseconds(50),
                            .is_cancelled = [this] { return cancelled_; }},
                           store, functions_of_played(),
                           std::make_unique<PlayedStage>(calls_until_fault));
  }

  // What the rank says when its group is lost.
  static std::string lost(Communicator& communicator) {
    std::vector<uint64_t> values(3);
    try {
      communicator.reduce_max(values);
    } catch (const CommunicatorLost& error) {
      return error.what();
    }
    return "";
  }

  PlayedNccl nccl_;
  bool cancelled_ = false;
};

TEST_F(NcclGroupTest, ExchangesWhatDoesNotFitInPieces) {
  std::vector<uint64_t> values(20);
  std::iota(values.begin(), values.end(), 1);
  const std::vector<uint64_t> before = values;
  const auto communicator = group();
  communicator->reduce_max(values);
  EXPECT_EQ(nccl_.counts, (std::vector<size_t>{8, 8, 4}));
  EXPECT_EQ(values, before);  // of one rank the largest is its own
}

TEST_F(NcclGroupTest, EndsTogetherWithTheOthersWhereAllIsWell) {
  group().reset();
  EXPECT_EQ(nccl_.finalized, 1);
  EXPECT_EQ(nccl_.ended(), Ended::kDestroyed);
}

TEST_F(NcclGroupTest, WaitsForTheOthersAtTheEnd) {
  auto communicator = group();
  nccl_.first_answer = ncclInProgress;
  nccl_.later_answers = {ncclInProgress, ncclInProgress, ncclSuccess};
  communicator.reset();
  EXPECT_EQ(nccl_.ended(), Ended::kDestroyed);
}

TEST_F(NcclGroupTest, IsAbortedAtTheEndWhereTheOthersDoNotEnd) {
  auto communicator = group();
  nccl_.first_answer = ncclInProgress;
  nccl_.later_answers = {ncclInProgress};
  communicator.reset();
  EXPECT_EQ(nccl_.ended(), Ended::kAborted);
}

TEST_F(NcclGroupTest, IsAbortedAtOnceWhenTheDeviceFails) {
  for (const int calls : {0, 1, 2}) {  // while it puts, waits, gets
    nccl_ = {};
    const auto communicator = group(0, calls);
    std::vector<uint64_t> values(3);
    try {
      communicator->reduce_max(values);
      FAIL() << "call " << calls << " did not fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
      EXPECT_THAT(error.what(), HasSubstr("fell off the bus"));
    }
    EXPECT_EQ(nccl_.ended(), Ended::kAborted);
    EXPECT_EQ(nccl_.finalized, 0);
    EXPECT_THAT(lost(*communicator), HasSubstr("lost before"));
  }
}

TEST_F(NcclGroupTest, SaysWhatNcclSaysOfARankThatIsGone) {
  const auto communicator = group();
  nccl_.first_answer = ncclInProgress;
  nccl_.later_answers = {ncclInProgress, ncclRemoteError};
  EXPECT_THAT(lost(*communicator),
              HasSubstr("remote process exited: peer 1 closed its connection"));
  EXPECT_EQ(nccl_.ended(), Ended::kAborted);
}

TEST_F(NcclGroupTest, GivesUpARankThatIsSilent) {
  const auto communicator = group();
  nccl_.first_answer = ncclInProgress;
  nccl_.later_answers = {ncclInProgress};
  EXPECT_THAT(lost(*communicator), HasSubstr("50 ms"));
  EXPECT_EQ(nccl_.ended(), Ended::kAborted);
  EXPECT_THAT(lost(*communicator), HasSubstr("lost before"));
}

TEST_F(NcclGroupTest, EndsItsWaitWhenTheGroupIsCancelled) {
  const auto communicator = group();
  nccl_.first_answer = ncclInProgress;
  nccl_.later_answers = {ncclInProgress};
  cancelled_ = true;
  EXPECT_THAT(lost(*communicator), HasSubstr("cancelled"));
  EXPECT_EQ(nccl_.ended(), Ended::kAborted);
}

TEST_F(NcclGroupTest, LeavesNoCommunicatorBehindWhereRanksDoNotConnect) {
  nccl_.first_answer = ncclInProgress;
  nccl_.later_answers = {ncclInProgress};
  EXPECT_THROW(group(1), CommunicatorLost);
  EXPECT_EQ(nccl_.ended(), Ended::kAborted);
}

}  // namespace
}  // namespace engine::comm
