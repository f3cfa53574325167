#include "engine/cpu/fused/vector_units.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <cstring>

namespace engine::cpu::fused {

#if defined(__x86_64__)
Processor this_processor() {
  Processor found;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return found;
  std::array<char, 12> vendor{};
  std::memcpy(&vendor[0], &ebx, 4);
  std::memcpy(&vendor[4], &edx, 4);
  std::memcpy(&vendor[8], &ecx, 4);
  found.vendor.assign(vendor.begin(), vendor.end());
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return found;
  constexpr unsigned kExtended = 15;
  const unsigned family = eax >> 8 & 15;
  found.family = static_cast<int>(family == kExtended ? family + (eax >> 20 & 255) : family);
  return found;
}
#else
Processor this_processor() { return {}; }
#endif

bool computes_512_bits_at_once(const Processor& processor) {
  constexpr int kZen5 = 26;
  return processor.vendor != "AuthenticAMD" || processor.family >= kZen5;
}

}  // namespace engine::cpu::fused
