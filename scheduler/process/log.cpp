#include "scheduler/process/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <regex>

namespace scheduler {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void open_log() {
  spdlog::sink_ptr sink = journal_sink();
  if (!sink) sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("margayd", sink));
}

void set_log_level(LogLevel level) { spdlog::set_level(level_of(level)); }

std::vector<std::pair<std::string, std::string>> journal_fields(const std::string& line) {
  static const std::regex token("\\bmargay-[a-z0-9]+-([0-9]+)-a([0-9]+)\\b");
  static const std::regex item("\\bitem ([0-9]+)\\b");
  std::smatch found;
  if (std::regex_search(line, found, token)) {
    return {{"MARGAY_JOB", found[0]}, {"MARGAY_ITEM", found[1]}, {"MARGAY_ATTEMPT", found[2]}};
  }
  if (std::regex_search(line, found, item)) return {{"MARGAY_ITEM", found[1]}};
  return {};
}

}  // namespace scheduler
