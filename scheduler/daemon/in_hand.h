// Which item's work the tick has in hand, noted in a small file beside the database: a daemon that
// ended abnormally leaves there at whose work it ended, and the next one can keep an item out of
// the queue that would end it again and again. The note must survive the process, not the machine:
// it is never flushed.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"

namespace scheduler {

enum class Work : int32_t {
  kNone = 0,
  kTrack = 1,   // looking at an attempt and its files
  kLaunch = 2,  // preparing a job and submitting it
};

// The work at which the last daemons ended abnormally, one after the other.
struct Suspect {
  int64_t item = 0;  // 0: there is none
  Work work = Work::kNone;
  int32_t crashes = 0;  // by a signal that the process raised itself: SIGSEGV, SIGABRT, ...
  // Otherwise (SIGKILL, a power cut), since the work was last done to its end: such an end says
  // little about the work.
  int32_t kills = 0;
};

// What the file holds.
struct InHandNote {
  int64_t item = 0;
  Work work = Work::kNone;
  int32_t signal = 0;  // that ended the process during this work
  Suspect suspect{};
  // Suspects of one kind of work that were set aside, since such work was last done to its end.
  int32_t set_aside = 0;
  Work set_aside_at = Work::kNone;
};

// The suspect of the next daemon; none when the last one had nothing in hand. Pure.
Suspect suspect_after(const InHandNote& last);
// True when the work would end the next daemon too. Pure.
bool is_poison(const Suspect& suspect);

// Not thread-safe; the tick is the only caller.
class InHand {
 public:
  // Begins with what the last daemon left; a file of another kind counts as none. Throws
  // base::FileError when the file cannot be opened.
  explicit InHand(const std::string& path);

  const Suspect& suspect() const { return note_.suspect; }
  // True when the last suspect, too, was set aside at such work, and none was done to its end
  // since: the fault is not the item's.
  bool is_second_in_row() const;
  // There is no suspect any more: something was done about it.
  void set_aside();

  // From here on this work is in hand, and what was before is done.
  void take(int64_t item, Work work);
  void put_down();
  // For another thread, when the process ends on purpose while the tick is at some work: nothing is
  // in hand then.
  void abandon() const;
  // Empty unless the file could not be written; then why.
  const std::string& problem() const { return problem_; }

  // From here on, a signal that this thread raises by a fault is noted before it ends the process.
  // For the process's tick: one note for each process, that of the last object asked, which must
  // live as long as the process or until another one is asked.
  void note_crashes() const;

 private:
  void finish();
  void write();

  std::string path_;
  base::Descriptor file_;
  InHandNote note_;
  std::string problem_;
};

}  // namespace scheduler
