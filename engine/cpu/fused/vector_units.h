// Says whether vectors of 512 bits are worth their memory on a processor.
#pragma once

#include <string>

namespace engine::cpu::fused {

struct Processor {
  std::string vendor{};  // as CPUID has it, "AuthenticAMD"; empty: not an x86
  int family = 0;
};

Processor this_processor();

// Returns false where a vector of 512 bits takes as long as two of 256: AMD's before Zen 5. Of Zen
// 5 and of other makers' processors it assumes that they compute it at once.
bool computes_512_bits_at_once(const Processor& processor);

}  // namespace engine::cpu::fused
