#include "scheduler/cli/terminal/exit.h"

#include "base/words.h"

namespace scheduler::cli {
namespace {

constexpr base::Words<Exit, 8> kKinds = {{
    {Exit::kFailed, "failed"},
    {Exit::kUsage, "usage"},
    {Exit::kPartial, "partial"},
    {Exit::kNotFound, "not_found"},
    {Exit::kNotPermitted, "not_permitted"},
    {Exit::kConflict, "conflict"},
    {Exit::kUnreachable, "unreachable"},
    {Exit::kTimedOut, "timed_out"},
}};

}  // namespace

std::string kind_of(Exit exit) { return exit == Exit::kOk ? "ok" : base::word_of(kKinds, exit); }

Exit exit_of_kind(const std::string& kind) {
  return base::value_of(kKinds, kind).value_or(Exit::kFailed);
}

void Tally::failed(Exit exit) {
  shared_ = failures_ == 0 || shared_ == exit ? exit : Exit::kFailed;
  ++failures_;
}

Exit Tally::exit() const {
  if (failures_ == 0) return Exit::kOk;
  return succeeded_ > 0 ? Exit::kPartial : shared_;
}

}  // namespace scheduler::cli
