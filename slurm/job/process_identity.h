// What is known of a process without being its parent: its number, when it started and in which
// boot of the machine, so that a reused number is never mistaken for it. Also the text format of
// small records.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slurm {

struct ProcessIdentity {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  std::string boot_id;
};

// The kernel's list of processes. The paths differ from the defaults in tests only.
class ProcessTable {
 public:
  explicit ProcessTable(std::filesystem::path proc = "/proc",
                        const std::filesystem::path& boot_id = "/proc/sys/kernel/random/boot_id");

  const std::string& boot_id() const { return boot_id_; }
  // The process that has this number now; nullopt when there is none.
  std::optional<ProcessIdentity> identify(pid_t pid) const;
  bool alive(const ProcessIdentity& process) const;
  // All live processes of the session that `leader` began. When the leader itself has ended, only
  // those that carry `mark` in their environment: the session's number may belong to another
  // session by then.
  std::vector<ProcessIdentity> session_of(const ProcessIdentity& leader,
                                          const std::string& mark) const;
  // Whether the process has a handler for the signal, or its first thread blocks it to read it
  // otherwise (signalfd, sigwait), and is not merely a script's shell, which would die of it. Such
  // processes get the request for a checkpoint, as with Slurm, which signals the steps. A process
  // that blocks all signals for a moment, such as a child before its exec, counts as one that reads
  // the signal, and may die of it.
  bool handles(const ProcessIdentity& process, int signal_number) const;
  // Sends the signal. Returns false when the process no longer exists.
  bool signal(const ProcessIdentity& process, int signal_number) const;

 private:
  std::filesystem::path proc_;
  std::string boot_id_;
};

// Lines `key=value`; newlines and backslashes in values are escaped.
using Record = std::map<std::string, std::string>;
std::string encode(const Record& record);
// nullopt when the text is cut short or is not a record.
std::optional<Record> decode(const std::string& text);
std::string text_of(const Record& record, const std::string& key);
int64_t number_of(const Record& record, const std::string& key);

Record to_record(const ProcessIdentity& process);
ProcessIdentity to_identity(const Record& record);

}  // namespace slurm
