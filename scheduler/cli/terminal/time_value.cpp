#include "scheduler/cli/terminal/time_value.h"

#include <chrono>
#include <ctime>

#include "base/duration.h"

namespace scheduler::cli {
namespace {

// The whole text in this form of strptime.
std::optional<std::tm> parsed(const std::string& text, const char* form, std::tm fields) {
  const char* const end = ::strptime(text.c_str(), form, &fields);
  if (end == nullptr || *end != '\0' || fields.tm_sec > 59) return std::nullopt;
  fields.tm_isdst = -1;
  return fields;
}

std::optional<std::tm> parsed(const std::string& text, const std::string& form, std::tm fields) {
  const auto exact = parsed(text, (form + ":%S").c_str(), fields);
  return exact ? exact : parsed(text, form.c_str(), fields);
}

bool same_day(const std::tm& a, const std::tm& b) {
  return a.tm_year == b.tm_year && a.tm_mon == b.tm_mon && a.tm_mday == b.tm_mday;
}

// The calendar turns 30 February into a day of March: that is no time.
std::optional<int64_t> epoch_of(const std::tm& fields, bool utc) {
  std::tm normal = fields;
  const std::time_t time = utc ? ::timegm(&normal) : std::mktime(&normal);
  if (time <= 0 || !same_day(fields, normal)) return std::nullopt;
  return time;
}

std::optional<int64_t> next_time_of_day(const std::string& text, int64_t now) {
  const std::time_t from = now;
  std::tm today{};
  ::localtime_r(&from, &today);
  today.tm_sec = 0;
  const auto fields = parsed(text, std::string("%H:%M"), today);
  if (!fields) return std::nullopt;
  std::tm next = *fields;
  if (std::mktime(&next) > from) return std::mktime(&next);
  next = *fields;
  ++next.tm_mday;
  return std::mktime(&next);
}

}  // namespace

std::optional<int64_t> parse_time(std::string_view text, int64_t now) {
  if (text.starts_with("+")) {
    const auto span = base::parse_duration(text.substr(1));
    if (!span) return std::nullopt;
    return now + std::chrono::ceil<std::chrono::seconds>(*span).count();
  }
  const bool utc = text.ends_with("Z");
  const std::string plain(text.substr(0, text.size() - (utc ? 1 : 0)));
  if (!utc) {
    if (const auto time = next_time_of_day(plain, now)) return time;
  }
  // strptime would take fewer digits, and blanks before them.
  constexpr size_t kShortest = 16;
  if (plain.size() < kShortest || plain.find("  ") != std::string::npos) return std::nullopt;
  for (const std::string form : {"%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"}) {
    if (const auto fields = parsed(plain, form, {})) return epoch_of(*fields, utc);
  }
  return std::nullopt;
}

std::string invalid_time(std::string_view text) {
  return "invalid time '" + std::string(text) +
         "'; write for example +3h, 08:00, 2026-11-24T08:00 or 2026-11-24T07:00Z";
}

}  // namespace scheduler::cli
