#include "scheduler/cli/exit.h"

#include <array>
#include <utility>

namespace scheduler::cli {
namespace {

constexpr std::array<std::pair<Exit, const char*>, 8> kKinds = {{
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

std::string kind_of(Exit exit) {
  for (const auto& [code, kind] : kKinds) {
    if (code == exit) return kind;
  }
  return "ok";
}

Exit exit_of_kind(const std::string& kind) {
  for (const auto& [code, word] : kKinds) {
    if (word == kind) return code;
  }
  return Exit::kFailed;
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
