// Implements the waits of simt_block.h, and the error when all threads of a block wait for ever.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "tests/fakes/simt_block.h"
#include "tests/fakes/simt_fibers.h"

namespace tests::simt {
namespace {

bool same(const Place& a, const Place& b) {
  return a.line == b.line && std::strcmp(a.file, b.file) == 0;
}

std::string text_of(const Place& place) {
  const std::string_view path = place.file;
  return std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(place.line);
}

std::string text_of(const uint3& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

std::string hex(uint32_t mask) {
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[mask >> shift & 15];
  return text;
}

std::string name_of(WarpWord word) {
  switch (word) {
    case WarpWord::kSync:
      return "__syncwarp";
    case WarpWord::kShuffle:
      return "__shfl_sync";
    case WarpWord::kShuffleUp:
      return "__shfl_up_sync";
    case WarpWord::kShuffleDown:
      return "__shfl_down_sync";
    case WarpWord::kShuffleXor:
      return "__shfl_xor_sync";
    case WarpWord::kVote:
      return "a vote";
  }
  return "";
}

}  // namespace

unsigned BlockRunner::barrier(bool yes, Place where) {
  Thread& thread = threads_[running_];
  thread.state = State::kAtBarrier;
  thread.yes = yes;
  thread.where = where;
  const char* meeting = at_second_meeting_ ? &meetings_->second : &meetings_->first;
  release_at(meeting);
  wait_for_turn();
  acquire_at(meeting);
  return static_cast<unsigned>(thread.result);
}

void BlockRunner::go_on_after_all_wait() {
  try {
    pass_barrier();
  } catch (...) {
    stop(std::current_exception());
  }
}

// A thread that has ended counts as arrived, as PTX has it from sm_70 on. Threads that wait at
// different lines do not: CUDA allows a barrier in a branch only when all take the same one.
void BlockRunner::pass_barrier() {
  const Thread* first = nullptr;
  unsigned yes = 0;
  for (const Thread& thread : threads_) {
    if (thread.state == State::kDone) continue;
    if (first == nullptr) first = &thread;
    if (thread.state != State::kAtBarrier || !same(thread.where, first->where)) fail_stuck();
    yes += thread.yes ? 1 : 0;
  }
  at_second_meeting_ = !at_second_meeting_;
  for (unsigned i = 0; i < threads_.size(); ++i) {
    if (threads_[i].state == State::kDone) continue;
    threads_[i].result = yes;
    make_ready(i);
  }
  keep_to_one_warp_ = random_.next() % 2 == 0;
}

uint64_t BlockRunner::exchange(const WarpCall& call) {
  Thread& thread = threads_[running_];
  thread.call = call;
  if ((call.mask >> lane() & 1) == 0) {
    fail(running_, "calls " + name_of(call.word) + " at " + text_of(call.where) +
                       " with the mask " + hex(call.mask) + ", which does not name it");
  }
  thread.state = State::kInWarp;
  warps_[running_ / 32].waiting |= 1u << lane();
  // A shuffle or a vote orders no writes.
  const bool orders = call.word == WarpWord::kSync;
  if (orders) release_at(&thread.came);
  settle(running_ / 32, call.mask);
  wait_for_turn();
  if (orders) acquire_at(&thread.goes);
  return thread.result;
}

// Releases the threads that the mask names once all of them that have not ended have arrived with
// the same operation and the same mask.
void BlockRunner::settle(unsigned warp_number, unsigned mask) {
  Warp& warp = warps_[warp_number];
  const uint32_t members = mask & warp.alive;
  if (members == 0 || (warp.waiting & members) != members) return;
  const auto first = warp_number * 32 + static_cast<unsigned>(std::countr_zero(members));
  const WarpWord word = threads_[first].call.word;
  for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
    const WarpCall& call =
        threads_[warp_number * 32 + static_cast<unsigned>(std::countr_zero(rest))].call;
    if (call.mask != mask || call.word != word) return;
  }
  for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
    const auto thread = warp_number * 32 + static_cast<unsigned>(std::countr_zero(rest));
    threads_[thread].result = result_of(thread, members);
  }
  warp.waiting &= ~members;
  if (word == WarpWord::kSync) pass_on(warp_number, members);
  for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
    make_ready(warp_number * 32 + static_cast<unsigned>(std::countr_zero(rest)));
  }
}

// What each of them has done, to all of them.
void BlockRunner::pass_on(unsigned warp, uint32_t members) {
  for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
    acquire_at(&threads_[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))].came);
  }
  for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
    release_at(&threads_[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))].goes);
  }
}

// Those that wait for a thread that has ended need not any longer.
void BlockRunner::settle_without(unsigned thread) {
  Warp& warp = warps_[thread / 32];
  for (uint32_t rest = warp.waiting; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned mask = threads_[thread / 32 * 32 + lane].call.mask;
    const bool still_waits = (warp.waiting >> lane & 1) != 0;
    if (still_waits && (mask >> thread % 32 & 1) != 0) settle(thread / 32, mask);
  }
}

uint64_t BlockRunner::result_of(unsigned thread, uint32_t members) const {
  const WarpCall& call = threads_[thread].call;
  const unsigned base = thread / 32 * 32;
  if (call.word == WarpWord::kSync) return 0;
  if (call.word == WarpWord::kVote) {
    uint32_t yes = 0;
    for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (threads_[base + lane].call.bits != 0) yes |= 1u << lane;
    }
    return yes;
  }
  if ((members >> call.source & 1) == 0) {
    fail(thread, "reads by " + name_of(call.word) + " at " + text_of(call.where) + " from lane " +
                     std::to_string(call.source) + ", which takes no part");
  }
  return threads_[base + call.source].call.bits;
}

void BlockRunner::fail(unsigned thread, const std::string& what) const {
  throw KernelError("kernel " + launch_.options.kernel + ", block " + text_of(blockIdx) +
                    ", thread " + text_of(threads_[thread].index) + " " + what);
}

// One entry for each place: how many wait there, and who.
std::string BlockRunner::where_all_wait() const {
  struct Crowd {
    std::string place;
    unsigned count;
    unsigned first;
  };
  std::vector<Crowd> crowds;
  for (unsigned i = 0; i < threads_.size(); ++i) {
    const Thread& thread = threads_[i];
    std::string place = "have ended";
    if (thread.state == State::kAtBarrier)
      place = "wait at the barrier at " + text_of(thread.where);
    if (thread.state == State::kInWarp) {
      place = "wait in " + simt::name_of(thread.call.word) + " with the mask " +
              hex(thread.call.mask) + " at " + text_of(thread.call.where);
    }
    const auto known = std::find_if(crowds.begin(), crowds.end(),
                                    [&](const Crowd& crowd) { return crowd.place == place; });
    if (known == crowds.end()) {
      crowds.push_back({place, 1, i});
    } else {
      ++known->count;
    }
  }
  std::string text;
  for (const Crowd& crowd : crowds) {
    text += (text.empty() ? "" : "; ") + std::to_string(crowd.count) + " " + crowd.place +
            ", the first being " + text_of(threads_[crowd.first].index);
  }
  return text;
}

void BlockRunner::fail_stuck() const {
  const auto waiting = std::find_if(threads_.begin(), threads_.end(),
                                    [](const Thread& t) { return t.state != State::kDone; });
  fail(static_cast<unsigned>(waiting - threads_.begin()),
       "waits for ever, for the threads wait at different places: " + where_all_wait());
}

}  // namespace tests::simt
