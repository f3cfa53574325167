// One block of a kernel at a time: its threads take turns, its shared memory, what they wait for.
// Kernels do not use this header but CUDA's own names (simt_words.h, simt_sync.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fakes/simt_words.h"

namespace tests::simt {

// What a device would call undefined, or would hang on. Names the kernel, the block and the thread.
struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string kernel = "without a name";  // for the errors
  uint64_t seed = 1;                      // of the order of blocks and threads, and of the garbage
  size_t shared_limit = 227 * 1024;       // bytes; 64 * 1024 on sm_75
};

struct Launch {
  Options options{};
  dim3 grid{};
  dim3 block{};
  size_t shared_bytes = 0;
  std::function<void()> thread{};  // the kernel with its arguments
};

// Runs all blocks; throws KernelError, or the first thing that the kernel throws.
void run(const Launch& launch);

// In a source. (clang-tidy 14 does not know std::source_location.)
struct Place {
  const char* file = "";
  int line = 0;

  // As a default argument: where the function is called.
  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

enum class WarpWord : uint8_t { kSync, kShuffle, kShuffleUp, kShuffleDown, kShuffleXor, kVote };

// What a thread brings to an operation of its warp.
struct WarpCall {
  WarpWord word{};
  unsigned mask = 0;
  unsigned source = 0;  // the lane whose bits this thread wants, when shuffling
  uint64_t bits = 0;
  Place where{};
};

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // One of the bits that are set in `bits`, which has some.
  unsigned one_of(uint32_t bits);

 private:
  uint64_t state_;
};

class Fiber;
class Team;

class BlockRunner {
 public:
  BlockRunner(const Launch& launch, Team& team, uint64_t seed);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  void run(uint3 index);

  // From here on: for the thread that is running.
  // Lets other threads run first.
  void yield();
  // The same; and who comes here later knows what was done before.
  void fence();
  // Waits for all threads of the block that have not ended; returns for how many `yes` is true.
  unsigned barrier(bool yes, Place where);
  // Waits for the threads of the warp that the mask names and that have not ended. Returns the
  // bits of the source lane, or the lanes whose bits are not 0 when voting.
  uint64_t exchange(const WarpCall& call);
  // 16 bytes, aligned to 16, that arrive when the thread waits for the list of copies they are on.
  void copy_ahead(void* shared, const void* global);
  void close_copies();
  void wait_for_copies();
  unsigned lane() const { return running_ % 32; }
  std::byte* shared() { return shared_.get(); }

  // The body of a fiber, once for each block.
  void run_thread();

 private:
  enum class State : uint8_t { kReady, kRunning, kAtBarrier, kInWarp, kDone };
  struct Thread {
    uint3 index{};
    State state = State::kReady;
    bool yes = false;
    Place where{};
    WarpCall call{};
    uint64_t result = 0;
    struct Copy {
      void* to = nullptr;
      const void* from = nullptr;
    };
    std::vector<Copy> copies{};  // that are on their way
    size_t closed = 0;           // of them, that are waited for
    // Addresses at which the thread and those it waits for order what they have done.
    char came = 0;
    char goes = 0;
  };
  struct Warp {
    uint32_t alive = 0;
    uint32_t ready = 0;
    uint32_t waiting = 0;  // in an operation of the warp
  };
  // Where the threads of one block do so at its barriers, at this one and at the next in turn:
  // whoever has come to the next one is not known to those who still leave this one.
  struct Meetings {
    char first = 0;
    char second = 0;
  };
  struct Stopped {};  // unwinds a thread after another one has failed

  Fiber& fiber_of(unsigned thread);
  void start_block();
  void end_block();
  void fill_shared();
  void make_ready(unsigned thread);
  unsigned pick();
  void enter(unsigned thread);
  void pass_turn();
  void wait_for_turn();
  std::exception_ptr call_kernel();
  void finish(const std::exception_ptr& failure);
  void stop(std::exception_ptr failure);

  void settle(unsigned warp, unsigned mask);
  void pass_on(unsigned warp, uint32_t members);
  void settle_without(unsigned thread);
  uint64_t result_of(unsigned thread, uint32_t members) const;
  void go_on_after_all_wait();
  void pass_barrier();

  std::string where_all_wait() const;
  [[noreturn]] void fail(unsigned thread, const std::string& what) const;
  [[noreturn]] void fail_stuck() const;

  const Launch& launch_;
  Team& team_;
  Random random_;
  std::vector<Thread> threads_;
  std::array<Warp, 32> warps_{};
  uint32_t warps_ready_ = 0;
  unsigned running_ = 0;
  unsigned unfinished_ = 0;
  bool keep_to_one_warp_ = false;
  char fences_ = 0;
  std::unique_ptr<Meetings> meetings_;
  bool at_second_meeting_ = false;
  size_t first_fiber_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::unique_ptr<std::byte[]> shared_;
};

// Returns the runner of the current kernel; throws std::logic_error when none runs.
BlockRunner& running_block();

}  // namespace tests::simt
