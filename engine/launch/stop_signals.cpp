#include "engine/launch/stop_signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "base/error.h"

namespace engine {
namespace {

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) sigaddset(&set, signal);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_set();
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    throw std::system_error(error, std::generic_category(), "cannot block signals");
  }
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC));
  if (!signals_) base::throw_errno("cannot listen for signals");
  finish_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!finish_) base::throw_errno("cannot listen for signals");
  watcher_ = std::thread([this] { watch(); });
}

StopSignals::~StopSignals() {
  const uint64_t one = 1;
  while (::write(finish_.get(), &one, sizeof(one)) < 0 && errno == EINTR) continue;
  watcher_.join();
}

void StopSignals::watch() {
  std::array<pollfd, 2> sources = {{{signals_.get(), POLLIN, 0}, {finish_.get(), POLLIN, 0}}};
  for (;;) {
    if (::poll(sources.data(), sources.size(), -1) < 0) continue;
    if (sources[1].revents != 0) return;
    signalfd_siginfo info = {};
    if (::read(signals_.get(), &info, sizeof(info)) != sizeof(info)) continue;
    // A second Ctrl-C means: do not wait for the checkpoint.
    if (info.ssi_signo == SIGINT && requested_) std::_Exit(128 + SIGINT);
    requested_ = true;
  }
}

}  // namespace engine
