// Notes in a small file beside the database which item the tick is working on. After an abnormal
// end the next daemon finds there whose work it was, and can keep an item out of the queue that
// would end it again and again. The note must survive the process, not the machine: it is never
// flushed.
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

// The work during which the last daemons ended abnormally, one after the other.
struct Suspect {
  int64_t item = 0;  // 0: there is none
  Work work = Work::kNone;
  int32_t crashes = 0;  // ends by a signal that the process raised itself: SIGSEGV, SIGABRT, ...
  // Other ends (SIGKILL, a power cut) since the work was last completed; such an end says little
  // about the work.
  int32_t kills = 0;
};

// The content of the file.
struct InHandNote {
  int64_t item = 0;
  Work work = Work::kNone;
  int32_t signal = 0;  // the signal that ended the process during this work
  Suspect suspect{};
  // How many suspects of one kind of work were set aside since such work was last completed.
  int32_t set_aside = 0;
  Work set_aside_at = Work::kNone;
};

// The suspect of the next daemon; none when the last daemon had no work in hand. Pure.
Suspect suspect_after(const InHandNote& last);
// True when the work would end the next daemon too. Pure.
bool is_poison(const Suspect& suspect);

// Not thread-safe; the tick is the only caller.
class InHand {
 public:
  // Reads what the last daemon left; a file with another content counts as none. Throws
  // base::FileError when the file cannot be opened.
  explicit InHand(const std::string& path);

  const Suspect& suspect() const { return note_.suspect; }
  // True when the last suspect was also set aside at such work, and no such work was completed
  // since: the cause is not the item.
  bool is_second_in_row() const;
  // Clears the suspect, which has been dealt with.
  void set_aside();

  // Notes that this work begins, and that the one before it is complete.
  void take(int64_t item, Work work);
  void put_down();
  // Notes that no work is in hand. For another thread, when the process ends on purpose during the
  // tick's work.
  void abandon() const;
  // Why the file could not be written; empty: it could.
  const std::string& problem() const { return problem_; }

  // From here on, a fatal signal that this thread raises is noted before it ends the process. A
  // process has one such note, that of the last object on which this was called; that object must
  // live as long as the process or until this is called on another.
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
