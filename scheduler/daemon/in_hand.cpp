#include "scheduler/daemon/in_hand.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "base/error.h"

namespace scheduler {
namespace {

constexpr int kMostCrashes = 2;
// Two kills of an operator's may well meet the same work.
constexpr int kMostKills = 5;

constexpr uint64_t kFormat = 0x32646e6168676d01;  // another one whenever InHandNote changes

struct File {
  uint64_t format = kFormat;
  InHandNote note{};
};

constexpr std::array<int, 5> kCrashSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// A signal handler has no other way to its data. Written by the thread whose faults it is for.
struct CrashNote {
  int file = -1;
  pid_t thread = 0;
  std::array<struct sigaction, kCrashSignals.size()> before{};
};
CrashNote crash_note;

// Calls nothing that is unsafe in a handler. What was set before takes over when it returns: the
// faulting instruction runs again, and abort() raises its signal again.
void note_crash(int number) {
  const int error = errno;
  const int32_t signal = number;
  if (gettid() == crash_note.thread) {
    [[maybe_unused]] const ssize_t written =
        pwrite(crash_note.file, &signal, sizeof signal,
               offsetof(File, note) + offsetof(InHandNote, signal));
  }
  for (size_t i = 0; i < kCrashSignals.size(); ++i) {
    if (kCrashSignals[i] == number) sigaction(number, &crash_note.before[i], nullptr);
  }
  errno = error;
}

// A stack that overflowed has no room for the handler.
void use_other_stack() {
  static std::array<char, 65536> stack;
  stack_t now = {};
  sigaltstack(nullptr, &now);
  if ((now.ss_flags & SS_DISABLE) == 0) return;
  stack_t other = {};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  sigaltstack(&other, nullptr);
}

}  // namespace

Suspect suspect_after(const InHandNote& last) {
  if (last.item == 0) return {};
  const bool again = last.item == last.suspect.item && last.work == last.suspect.work;
  Suspect suspect = again ? last.suspect : Suspect{.item = last.item, .work = last.work};
  ++(last.signal != 0 ? suspect.crashes : suspect.kills);
  return suspect;
}

bool is_poison(const Suspect& suspect) {
  return suspect.crashes >= kMostCrashes || suspect.kills >= kMostKills;
}

InHand::InHand(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
  if (!file_) throw base::FileError(errno, "cannot write '" + path + "'");
  File last;
  const bool whole = pread(file_.get(), &last, sizeof last, 0) == ssize_t{sizeof last};
  if (whole && last.format == kFormat) {
    note_.suspect = suspect_after(last.note);
    note_.set_aside = last.note.set_aside;
    note_.set_aside_at = last.note.set_aside_at;
  }
  write();
}

bool InHand::is_second_in_row() const {
  return note_.set_aside > 0 && note_.set_aside_at == note_.suspect.work;
}

void InHand::set_aside() {
  note_.set_aside = is_second_in_row() ? note_.set_aside + 1 : 1;
  note_.set_aside_at = note_.suspect.work;
  note_.suspect = {};
  write();
}

void InHand::take(int64_t item, Work work) {
  finish();
  note_.item = item;
  note_.work = work;
  write();
}

void InHand::put_down() {
  finish();
  write();
}

void InHand::finish() {
  Suspect& suspect = note_.suspect;
  const bool done = suspect.item == note_.item && suspect.work == note_.work;
  if (done) suspect.kills = 0;
  if (done && suspect.crashes == 0) suspect = {};
  if (note_.work == note_.set_aside_at) note_.set_aside = 0;
  note_.item = 0;
  note_.work = Work::kNone;
}

void InHand::abandon() const {
  const int64_t nothing = 0;
  // Where it cannot be written, the work counts as one that was killed, which five make suspicious.
  [[maybe_unused]] const ssize_t written = pwrite(
      file_.get(), &nothing, sizeof nothing, offsetof(File, note) + offsetof(InHandNote, item));
}

void InHand::write() {
  const File file{.note = note_};
  if (pwrite(file_.get(), &file, sizeof file, 0) == ssize_t{sizeof file}) return;
  problem_ = base::FileError(errno, "cannot write '" + path_ + "'").what();
}

void InHand::note_crashes() const {
  const bool handled = crash_note.file >= 0;
  crash_note.file = file_.get();
  crash_note.thread = gettid();
  if (handled) return;
  use_other_stack();
  struct sigaction action = {};
  action.sa_handler = note_crash;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < kCrashSignals.size(); ++i) {
    sigaction(kCrashSignals[i], &action, &crash_note.before[i]);
  }
}

}  // namespace scheduler
