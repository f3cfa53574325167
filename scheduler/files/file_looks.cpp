#include "scheduler/files/file_looks.h"

#include <exception>
#include <utility>

#include "scheduler/files/disk_space.h"

namespace scheduler {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kLongestKept{1};

}  // namespace

SeenFile look_at(const FileFacts& registered) {
  SeenFile seen;
  try {
    seen.found = find_registered(registered);
    if (seen.found.descriptor) seen.needed_bytes = needed_bytes(seen.found.descriptor.get());
    seen.found.descriptor.reset();
  } catch (const std::exception& error) {
    seen.problem = error.what();
  }
  return seen;
}

SeenFile FileLooks::unanswered(int64_t owner) const {
  SeenFile seen{.unanswered = true};
  const auto hanging = threads_.hanging();
  const auto why = hanging.find(owner);
  seen.problem = why != hanging.end() ? why->second : "its file system has answered late";
  return seen;
}

SeenFile FileLooks::look(int64_t owner, const FileFacts& registered) {
  if (!threads_.may_begin(owner)) return unanswered(owner);
  if (const auto late = late_.extract(owner)) {
    Answer& answer = *late.mapped();
    const bool same = difference(answer.file, registered).empty();
    if (same && Clock::now() - answer.time < kLongestKept) return std::move(answer.seen);
  }
  const auto answer = std::make_shared<Answer>(Answer{.file = registered});
  threads_.begin(owner, registered.path, [answer, look = look_](const OwnerThreads::Sign&) {
    answer->seen = look(answer->file);
    answer->time = Clock::now();
  });
  if (threads_.ends(owner)) return std::move(answer->seen);
  late_.emplace(owner, answer);
  return unanswered(owner);
}

}  // namespace scheduler
