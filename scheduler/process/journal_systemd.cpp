// Implements journal_sink() of log.h by libsystemd.
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <sys/uio.h>
// Without it each entry would have the place of this file on the machine that built it.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/environment.h"
#include "scheduler/process/log.h"

namespace scheduler {
namespace {

// Priorities of syslog(3).
int priority_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return 3;
  if (level == spdlog::level::warn) return 4;
  return level == spdlog::level::info ? 6 : 7;
}

class JournalSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string line(message.payload.data(), message.payload.size());
    std::vector<std::string> fields = {"MESSAGE=" + line,
                                       "PRIORITY=" + std::to_string(priority_of(message.level)),
                                       "SYSLOG_IDENTIFIER=margayd"};
    for (const auto& [name, value] : journal_fields(line)) fields.push_back(name + "=" + value);
    std::vector<iovec> parts;
    parts.reserve(fields.size());
    for (std::string& field : fields) {
      parts.push_back({.iov_base = field.data(), .iov_len = field.size()});
    }
    if (sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) < 0) {
      std::fprintf(stderr, "%s\n", line.c_str());
    }
  }
  void flush_() override {}
};

// systemd names the stream that it has connected by device and inode (systemd.exec(5)): a child may
// have inherited the variable and have another standard error.
bool is_connected() {
  struct stat facts {};
  if (fstat(STDERR_FILENO, &facts) != 0) return false;
  // libsystemd drops lines without a word where the journal's socket cannot be seen.
  if (access("/run/systemd/journal/socket", W_OK) != 0) return false;
  return base::variable("JOURNAL_STREAM") ==
         std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino);
}

}  // namespace

spdlog::sink_ptr journal_sink() {
  return is_connected() ? std::make_shared<JournalSink>() : nullptr;
}

}  // namespace scheduler
