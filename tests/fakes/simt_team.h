// The fibers that are the threads of one block after another.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tests/fakes/simt_fibers.h"

namespace tests::simt {

// Kept from launch to launch, since a stack with its guard costs three calls of the system.
class Team {
 public:
  // Each thread of the operating system has its own.
  static Team& of_this_thread();

  // Each new fiber runs `body`, which does not return.
  void grow_to(size_t fibers, void (*body)(void*));
  // The one that launches.
  Fiber& caller() { return caller_; }
  Undertaker& undertaker() { return undertaker_; }
  Fiber& fiber(size_t number) { return members_[number]->fiber; }

 private:
  struct Member {
    Member(size_t number, void (*body)(void*));
    Stack stack;
    Fiber fiber;
  };

  Fiber caller_;
  Undertaker undertaker_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace tests::simt
