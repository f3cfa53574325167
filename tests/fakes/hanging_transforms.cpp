// A device that hangs in the middle of a batch, for the real program: preloaded, it stands before
// FFTW's functions that a batch calls. The call with the number in MARGAY_HANG_AT_TRANSFORM never
// returns.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace {

void hang_if_due() {
  static std::atomic<int> calls{0};
  const char* const text = std::getenv("MARGAY_HANG_AT_TRANSFORM");
  if (text == nullptr || ++calls < std::atoi(text)) return;
  for (;;) pause();
}

using Function = void (*)(void*, void*, void*);

Function behind(const char* name) { return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name)); }

}  // namespace

extern "C" {

void fftwf_execute_dft(void* plan, void* in, void* out) {
  static const Function real = behind("fftwf_execute_dft");
  hang_if_due();
  real(plan, in, out);
}

void fftwf_execute_dft_c2r(void* plan, void* in, void* out) {
  static const Function real = behind("fftwf_execute_dft_c2r");
  hang_if_due();
  real(plan, in, out);
}
}
