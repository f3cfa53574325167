#include "tests/fakes/simt_team.h"

namespace tests::simt {

Team::Member::Member(size_t number, void (*body)(void*))
    : stack(number), fiber(stack, body, nullptr) {}

Team& Team::of_this_thread() {
  thread_local Team team;
  return team;
}

void Team::grow_to(size_t fibers, void (*body)(void*)) {
  while (members_.size() < fibers) {
    members_.push_back(std::make_unique<Member>(members_.size(), body));
  }
}

}  // namespace tests::simt
