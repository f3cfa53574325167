#include "slurm/sbatch/values.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/parse_number.h"
#include "base/text.h"

namespace slurm {
namespace {

constexpr int64_t kMinute = 60;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
// A century: a longer time is a mistake.
constexpr int64_t kLongest = 36'500 * kDay;
// Small enough that no product of them overflows.
constexpr int64_t kMostCount = 1'000'000;
constexpr int64_t kMostGpus = 65'536;
constexpr int64_t kMostMegabytes = 100'000'000;

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
  });
}

std::optional<std::vector<int64_t>> parse_fields(const std::string& text) {
  std::vector<int64_t> fields;
  for (const std::string& field : base::split(text, ':')) {
    const auto count = parse_count(field);
    if (!count) return std::nullopt;
    fields.push_back(*count);
  }
  return fields;
}

bool is_within(int64_t count, int64_t most) { return count >= 1 && count <= most; }

}  // namespace

std::optional<int64_t> parse_count(const std::string& text) {
  const auto count = base::parse_number<int64_t>(text);
  if (!count || text[0] == '-') return std::nullopt;
  // Small enough to be multiplied by any unit.
  if (*count > 1'000'000'000'000) return std::nullopt;
  return count;
}

std::optional<int64_t> parse_time(const std::string& text) {
  const std::string word = base::upper(text);
  if (word == "UNLIMITED" || word == "INFINITE" || word == "-1") return -1;
  const size_t dash = text.find('-');
  int64_t days = 0;
  if (dash != std::string::npos) {
    const auto count = parse_count(text.substr(0, dash));
    if (!count) return std::nullopt;
    days = *count;
  }
  const auto fields = parse_fields(dash == std::string::npos ? text : text.substr(dash + 1));
  if (!fields || fields->empty() || fields->size() > 3) return std::nullopt;
  // After days the fields begin with hours; otherwise one field is minutes, two are minutes and
  // seconds.
  std::array<int64_t, 3> units = {kHour, kMinute, 1};
  if (dash == std::string::npos && fields->size() < 3) units = {kMinute, 1, 0};
  int64_t seconds = days * kDay;
  for (size_t i = 0; i < fields->size(); ++i) {
    if ((*fields)[i] > kLongest) return std::nullopt;
    seconds += (*fields)[i] * units[i];
  }
  if (days > kLongest / kDay || seconds > kLongest) return std::nullopt;
  return seconds == 0 ? -1 : seconds;
}

std::string time_text(int64_t seconds) {
  if (seconds < 0) return "UNLIMITED";
  const auto two = [](int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  const std::string clock = two(seconds % kDay / kHour) + ":" + two(seconds % kHour / kMinute) +
                            ":" + two(seconds % kMinute);
  return seconds < kDay ? clock : std::to_string(seconds / kDay) + "-" + clock;
}

std::optional<int64_t> parse_memory(const std::string& text) {
  std::string word = base::upper(text);
  const auto ends_with = [&](char c) { return !word.empty() && word.back() == c; };
  const bool bytes = ends_with('B');
  if (bytes) word.pop_back();
  char unit = 'M';
  if (ends_with('K') || ends_with('M') || ends_with('G') || ends_with('T')) {
    unit = word.back();
    word.pop_back();
  } else if (bytes) {
    return std::nullopt;
  }
  const auto count = parse_count(word);
  if (!count) return std::nullopt;
  int64_t megabytes = *count;
  if (unit == 'K') megabytes = (*count + 1023) / 1024;
  if (unit == 'G') megabytes = *count * 1024;
  if (unit == 'T') megabytes = *count * 1024 * 1024;
  if (megabytes > kMostMegabytes) return std::nullopt;
  return megabytes;
}

std::string memory_text(int64_t megabytes) {
  constexpr int64_t kTera = 1024LL * 1024;
  if (megabytes != 0 && megabytes % kTera == 0) return std::to_string(megabytes / kTera) + "T";
  if (megabytes != 0 && megabytes % 1024 == 0) return std::to_string(megabytes / 1024) + "G";
  return megabytes == 0 ? "0" : std::to_string(megabytes) + "M";
}

std::optional<NodeRange> parse_nodes(const std::string& text) {
  const auto ends = base::split(text, '-');
  const auto least = parse_count(ends[0]);
  const auto most = ends.size() == 1 ? least : parse_count(ends[1]);
  if (ends.size() > 2 || !least || !most || !is_within(*least, kMostCount) ||
      !is_within(*most, kMostCount) || *most < *least) {
    return std::nullopt;
  }
  return NodeRange{static_cast<int>(*least), static_cast<int>(*most)};
}

std::optional<std::vector<Gres>> parse_gres(const std::string& text) {
  std::vector<Gres> entries;
  if (base::upper(text) == "NONE") return entries;
  for (std::string entry : base::split(text, ',')) {
    for (const char* prefix : {"gres:", "gres/"}) {
      if (entry.starts_with(prefix)) entry.erase(0, 5);
    }
    const auto parts = base::split(entry, ':');
    Gres gres{.name = parts[0]};
    const auto count = parts.size() > 1 ? parse_count(parts.back()) : std::nullopt;
    const size_t named = parts.size() - (count ? 1 : 0);
    if (named > 2 || !is_word(gres.name) || (count && !is_within(*count, kMostGpus)))
      return std::nullopt;
    if (named == 2) gres.type = parts[1];
    if (named == 2 && !is_word(gres.type)) return std::nullopt;
    if (count) gres.count = *count;
    entries.push_back(gres);
  }
  return entries;
}

std::string gres_text(const std::vector<Gres>& entries) {
  std::string text;
  for (const Gres& gres : entries) {
    text += (text.empty() ? "" : ",") + gres.name + ":";
    if (!gres.type.empty()) text += gres.type + ":";
    text += std::to_string(gres.count);
  }
  return text.empty() ? "none" : text;
}

std::optional<Gres> parse_gpus(const std::string& text) {
  const auto parts = base::split(text, ':');
  const auto count = parse_count(parts.back());
  if (parts.size() > 2 || !count || !is_within(*count, kMostGpus)) return std::nullopt;
  Gres gpus{.name = "gpu", .type = parts.size() == 2 ? parts[0] : "", .count = *count};
  if (parts.size() == 2 && (!is_word(gpus.type) || gpus.type == "gpu")) return std::nullopt;
  return gpus;
}

int64_t gpus_of_gres(const std::string& text) {
  int64_t gpus = 0;
  for (const Gres& gres : parse_gres(text).value_or(std::vector<Gres>{})) {
    if (gres.name == "gpu") gpus += gres.count;
  }
  return std::min(gpus, kMostGpus);
}

std::optional<EarlySignal> parse_signal(const std::string& text) {
  static const std::map<std::string, std::string> numbers = {
      {"1", "HUP"},   {"2", "INT"},   {"3", "QUIT"},  {"6", "ABRT"},  {"9", "KILL"},
      {"10", "USR1"}, {"12", "USR2"}, {"14", "ALRM"}, {"15", "TERM"}, {"18", "CONT"},
      {"19", "STOP"}, {"20", "TSTP"}, {"21", "TTIN"}, {"22", "TTOU"}, {"23", "URG"}};
  const auto parts = base::split(text, '@');
  if (parts.size() > 2) return std::nullopt;
  std::string name = base::upper(parts[0]);
  if (name.starts_with("SIG")) name.erase(0, 3);
  const auto numbered = numbers.find(name);
  if (numbered != numbers.end()) name = numbered->second;
  const bool known = std::any_of(numbers.begin(), numbers.end(),
                                 [&](const auto& entry) { return entry.second == name; });
  const auto seconds = parts.size() == 2 ? parse_count(parts[1]) : int64_t{60};
  if (!known || !seconds || *seconds > 65'535) return std::nullopt;
  return EarlySignal{name, static_cast<int>(*seconds)};
}

}  // namespace slurm
