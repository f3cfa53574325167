#include "scheduler/cli/terminal/redraw.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <ostream>
#include <sstream>
#include <string_view>

namespace scheduler::cli {
namespace {

constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l";  // the alternate screen, without a cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kClearRest = "\x1b[J";

constexpr std::array<int, 3> kEnding = {SIGINT, SIGTERM, SIGHUP};

// Handlers: they call nothing that is unsafe in one.
void end(int) { ::_exit(0); }
void leave_and_end(int) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, kLeave.data(), kLeave.size());
  ::_exit(0);
}

// A signal ends the wait, and while a view is made, the program: the daemon may not answer for
// long.
class AwaitedSignals {
 public:
  explicit AwaitedSignals(bool terminal) {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGWINCH);
    struct sigaction action = {};
    action.sa_handler = terminal ? leave_and_end : end;
    for (size_t i = 0; i < kEnding.size(); ++i) {
      ::sigaddset(&signals_, kEnding[i]);
      ::sigaction(kEnding[i], &action, &actions_before_[i]);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~AwaitedSignals() {
    for (size_t i = 0; i < kEnding.size(); ++i) {
      ::sigaction(kEnding[i], &actions_before_[i], nullptr);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  AwaitedSignals(const AwaitedSignals&) = delete;
  AwaitedSignals& operator=(const AwaitedSignals&) = delete;

  void let_through(const std::function<void()>& action) const {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    action();
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  // Returns whether it is time to end.
  bool wait(std::chrono::milliseconds time) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const std::chrono::nanoseconds rest = time - seconds;
    const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = rest.count()};
    const int signal = ::sigtimedwait(&signals_, nullptr, &timeout);
    return signal > 0 && signal != SIGWINCH;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
  std::array<struct sigaction, kEnding.size()> actions_before_{};
};

class AlternateScreen {
 public:
  AlternateScreen(std::ostream& out, bool is_used) : out_(out), is_used_(is_used) {
    if (is_used_) out_ << kEnter << std::flush;
  }
  ~AlternateScreen() {
    if (is_used_) out_ << kLeave << std::flush;
  }
  AlternateScreen(const AlternateScreen&) = delete;
  AlternateScreen& operator=(const AlternateScreen&) = delete;

 private:
  std::ostream& out_;
  bool is_used_;
};

int terminal_lines() {
  winsize size{};
  constexpr int kUsual = 24;
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : kUsual;
}

}  // namespace

std::string top_of(const std::string& text, int lines) {
  int count = 0;
  size_t end = 0;  // of the lines that fit
  size_t cut = 0;  // ... without the last one
  int hidden = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t next = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (++count < lines) cut = next;
    if (count <= lines) end = next;
    begin = next;
  }
  if (count <= lines) return text.substr(0, end);
  hidden = count - lines + 1;
  return text.substr(0, cut) + "... and " + std::to_string(hidden) + " more lines\n";
}

Exit redraw(const Context& context, std::chrono::milliseconds every,
            const std::function<void(const Context&)>& view) {
  const bool terminal = context.screen().terminal;
  const AwaitedSignals signals(terminal);
  const AlternateScreen screen(context.out(), terminal);
  for (;;) {
    std::ostringstream drawn;
    const Context again = context.with(terminal ? find_screen() : context.screen(), drawn);
    signals.let_through([&] { view(again); });
    if (terminal) {
      // The last line stays empty: one that ends there would scroll.
      context.out() << kHome << kClearRest << top_of(drawn.str(), terminal_lines() - 1);
    } else {
      context.out() << drawn.str() << "\n";
    }
    context.out() << std::flush;
    if (!context.out() || signals.wait(every)) return Exit::kOk;
  }
}

}  // namespace scheduler::cli
