// The words by which the engine says that its self-test has no data. margayd's doctor looks for
// them, to distinguish an installation that lacks them from a device that fails.
#pragma once

namespace base {

inline constexpr const char* kNoKnownAnswers = "the known answers are not on this machine";

}  // namespace base
