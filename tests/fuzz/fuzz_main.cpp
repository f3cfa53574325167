// For libFuzzer: runs the target that MARGAY_FUZZ_TARGET names. Prints the names without it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/environment.h"
#include "tests/fuzz/targets.h"

namespace {

const tests::FuzzTarget* chosen = nullptr;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const std::string name = base::variable("MARGAY_FUZZ_TARGET", "");
  for (const tests::FuzzTarget& target : tests::fuzz_targets()) {
    if (name.empty()) std::puts(target.name.c_str());
    if (name == target.name) chosen = &target;
  }
  if (name.empty()) std::exit(0);
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "MARGAY_FUZZ_TARGET: unknown target '%s'\n", name.c_str());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  chosen->parse(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
// NOLINTEND(readability-identifier-naming)
