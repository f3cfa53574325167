#include "slurm/job/process_identity.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "base/descriptor.h"
#include "base/parse_number.h"

namespace slurm {
namespace {

constexpr const char* kFirstLine = "margay-record 1";
constexpr const char* kLastLine = "end";

struct Stat {
  pid_t session = 0;
  uint64_t start_ticks = 0;
  char state = '?';
};

// A process may end between the opening of its file and the reading, which then fails: both mean
// that it is not there.
std::optional<std::string> read_file(const std::filesystem::path& path) {
  const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? base::read_all(file.get()) : std::nullopt;
}

std::optional<Stat> read_stat(const std::filesystem::path& proc, pid_t pid) {
  const auto text = read_file(proc / std::to_string(pid) / "stat");
  if (!text) return std::nullopt;
  // The program's name stands in brackets and may itself hold blanks and brackets.
  const size_t after_name = text->rfind(')');
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(after_name + 1));
  Stat stat;
  std::string skipped;
  fields >> stat.state >> skipped >> skipped >> stat.session;  // state, ppid, pgrp, session
  for (int field = 7; field < 22; ++field) fields >> skipped;
  fields >> stat.start_ticks;
  if (!fields) return std::nullopt;
  return stat;
}

// A zombie holds nothing and cannot be stopped: it has ended.
bool is_running(const Stat& stat) { return stat.state != 'Z' && stat.state != 'X'; }

bool carries(const std::filesystem::path& proc, pid_t pid, const std::string& mark) {
  const auto environment = read_file(proc / std::to_string(pid) / "environ");
  if (!environment) return false;
  return ('\0' + *environment).find('\0' + mark + '\0') != std::string::npos;
}

}  // namespace

ProcessTable::ProcessTable(std::filesystem::path proc, const std::filesystem::path& boot_id)
    : proc_(std::move(proc)) {
  std::istringstream(read_file(boot_id).value_or("")) >> boot_id_;
  if (boot_id_.empty()) {
    throw std::runtime_error("cannot read the machine's boot id from " + boot_id.string() +
                             ": is /proc mounted?");
  }
}

std::optional<ProcessIdentity> ProcessTable::identify(pid_t pid) const {
  const auto stat = read_stat(proc_, pid);
  if (!stat || !is_running(*stat)) return std::nullopt;
  return ProcessIdentity{.pid = pid, .start_ticks = stat->start_ticks, .boot_id = boot_id_};
}

bool ProcessTable::alive(const ProcessIdentity& process) const {
  if (process.pid <= 0 || process.boot_id != boot_id_) return false;
  const auto now = identify(process.pid);
  return now && now->start_ticks == process.start_ticks;
}

std::vector<ProcessIdentity> ProcessTable::session_of(const ProcessIdentity& leader,
                                                      const std::string& mark) const {
  std::vector<ProcessIdentity> members;
  if (leader.pid <= 0 || leader.boot_id != boot_id_) return members;
  const bool leader_alive = alive(leader);
  for (const auto& entry : std::filesystem::directory_iterator(proc_)) {
    const auto pid = base::parse_number<pid_t>(entry.path().filename().string());
    if (!pid) continue;
    const auto stat = read_stat(proc_, *pid);
    if (!stat || !is_running(*stat) || stat->session != leader.pid) continue;
    const bool ours = leader_alive || (*pid != leader.pid && carries(proc_, *pid, mark));
    if (ours) {
      members.push_back({.pid = *pid, .start_ticks = stat->start_ticks, .boot_id = boot_id_});
    }
  }
  return members;
}

bool ProcessTable::handles(const ProcessIdentity& process, int signal_number) const {
  const std::filesystem::path folder = proc_ / std::to_string(process.pid);
  std::error_code gone;
  if (std::filesystem::read_symlink(folder / "exe", gone).filename() == "bash" || gone)
    return false;
  std::istringstream lines(read_file(folder / "status").value_or(""));
  uint64_t handled = 0;
  for (std::string line; std::getline(lines, line);) {
    for (const std::string_view key : {"SigBlk:", "SigCgt:"}) {
      if (line.starts_with(key)) handled |= std::strtoull(line.c_str() + key.size(), nullptr, 16);
    }
  }
  return ((handled >> (signal_number - 1)) & 1U) != 0;
}

bool ProcessTable::signal(const ProcessIdentity& process, int signal_number) const {
  // The handle is taken before the check, so that the number cannot change its owner in between.
  const base::Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  const bool old_kernel = !handle && errno == ENOSYS;
  if (!alive(process)) return false;
  if (old_kernel) return kill(process.pid, signal_number) == 0;
  return handle && syscall(SYS_pidfd_send_signal, handle.get(), signal_number, nullptr, 0) == 0;
}

std::string encode(const Record& record) {
  std::string text = std::string(kFirstLine) + "\n";
  for (const auto& [key, value] : record) {
    text += key + "=";
    for (const char c : value) {
      if (c == '\n') {
        text += "\\n";
      } else if (c == '\\') {
        text += "\\\\";
      } else {
        text += c;
      }
    }
    text += "\n";
  }
  return text + kLastLine + "\n";
}

std::optional<Record> decode(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kFirstLine) return std::nullopt;
  Record record;
  while (std::getline(lines, line)) {
    const size_t equals = line.find('=');
    if (line == kLastLine) return record;
    if (equals == std::string::npos) return std::nullopt;
    std::string value;
    for (size_t i = equals + 1; i < line.size(); ++i) {
      const bool escaped = line[i] == '\\' && i + 1 < line.size();
      if (escaped) ++i;
      value += escaped && line[i] == 'n' ? '\n' : line[i];
    }
    record[line.substr(0, equals)] = value;
  }
  return std::nullopt;
}

std::string text_of(const Record& record, const std::string& key) {
  const auto found = record.find(key);
  return found == record.end() ? std::string() : found->second;
}

int64_t number_of(const Record& record, const std::string& key) {
  return base::parse_number<int64_t>(text_of(record, key)).value_or(0);
}

Record to_record(const ProcessIdentity& process) {
  return {{"pid", std::to_string(process.pid)},
          {"start_ticks", std::to_string(process.start_ticks)},
          {"boot_id", process.boot_id}};
}

ProcessIdentity to_identity(const Record& record) {
  return {.pid = static_cast<pid_t>(number_of(record, "pid")),
          .start_ticks = static_cast<uint64_t>(number_of(record, "start_ticks")),
          .boot_id = text_of(record, "boot_id")};
}

}  // namespace slurm
