#include "tests/fakes/simt_team.h"

#include "tests/fakes/simt_block.h"

namespace tests::simt {
namespace {

void live(void*) {
  while (true) running_block().run_thread();
}

}  // namespace

Team::Member::Member(size_t number) : stack(number), fiber(stack, live, nullptr) {}

Team& Team::of_this_thread() {
  thread_local Team team;
  return team;
}

void Team::grow_to(size_t fibers) {
  while (members_.size() < fibers) members_.push_back(std::make_unique<Member>(members_.size()));
}

}  // namespace tests::simt
