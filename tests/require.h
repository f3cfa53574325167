// A test that cannot run on this machine says what it lacks and is skipped, unless the machine
// promised to have it: MARGAY_REQUIRE=name,... makes the skip a failure.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace tests {

inline bool is_required(const std::string& name) {
  const char* required = std::getenv("MARGAY_REQUIRE");
  std::istringstream names(required ? required : "");
  for (std::string one; std::getline(names, one, ',');) {
    if (one == name) return true;
  }
  return false;
}

}  // namespace tests

// Ends the running test; `name` is the one that MARGAY_REQUIRE uses, `message` says what is
// missing.
#define MARGAY_SKIP_FOR_WANT_OF(name, message)                              \
  do {                                                                      \
    if (tests::is_required(name)) {                                         \
      FAIL() << "MARGAY_REQUIRE names " << (name) << ", but " << (message); \
    }                                                                       \
    GTEST_SKIP() << (name) << ": " << (message);                            \
  } while (false)
