#include "tests/fakes/fake_faults.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace tests {
namespace {

using std::chrono::milliseconds;
using Words = std::vector<std::string>;

const std::map<std::string, Asked>& kinds() {
  static const std::map<std::string, Asked> words = {
      {"any", Asked::kAny},   {"submit", Asked::kSubmit},         {"list", Asked::kList},
      {"get", Asked::kGet},   {"update", Asked::kUpdate},         {"delete", Asked::kDelete},
      {"ping", Asked::kPing}, {"accounting", Asked::kAccounting},
  };
  return words;
}

const std::map<std::string, Mishap>& mishaps() {
  static const std::map<std::string, Mishap> words = {
      {"drop-answer", Mishap::kDropAnswer},
      {"lose-request", Mishap::kLoseRequest},
      {"delay", Mishap::kDelay},
      {"hung", Mishap::kHung},
      {"controller-down", Mishap::kControllerDown},
      {"status", Mishap::kStatus},
      {"status-after", Mishap::kStatusAfter},
      {"unauthorized", Mishap::kUnauthorized},
      {"cut", Mishap::kCut},
      {"unknown-state", Mishap::kUnknownState},
      {"rows-missing", Mishap::kRowsMissing},
      {"refuse-partition", Mishap::kRefusePartition},
      {"forget", Mishap::kForget},
      {"requeue", Mishap::kRequeue},
      {"kill-node", Mishap::kKillNode},
      {"clock", Mishap::kClock},
      {"purge", Mishap::kPurge},
  };
  return words;
}

int64_t number_of(const std::string& text) {
  size_t used = 0;
  const int64_t number = std::stoll(text, &used);
  if (used != text.size()) throw std::invalid_argument("'" + text + "' is no number");
  return number;
}

milliseconds duration_of(const std::string& text) {
  const size_t unit = text.find_first_not_of("0123456789");
  if (unit == 0 || unit == std::string::npos) {
    throw std::invalid_argument("'" + text + "' is no time such as 200ms or 2s");
  }
  const int64_t number = number_of(text.substr(0, unit));
  if (text.substr(unit) == "ms") return milliseconds(number);
  if (text.substr(unit) == "s") return std::chrono::seconds(number);
  throw std::invalid_argument("'" + text + "' is no time such as 200ms or 2s");
}

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Asked kind_of(const Words& words, size_t at) {
  if (at >= words.size() || !kinds().contains(words[at])) {
    throw std::invalid_argument("no kind of request there");
  }
  return kinds().at(words[at]);
}

void read_range(const std::string& text, FakeFault& fault) {
  const size_t dash = text.find('-');
  if (text.ends_with("+")) {
    fault.first = static_cast<int>(number_of(text.substr(0, text.size() - 1)));
    fault.last = std::numeric_limits<int>::max();
  } else {
    fault.first = static_cast<int>(number_of(text.substr(0, dash)));
    fault.last = dash == std::string::npos ? fault.first
                                           : static_cast<int>(number_of(text.substr(dash + 1)));
  }
  if (fault.first < 1 || fault.last < fault.first) throw std::invalid_argument("no such range");
}

void read_when(const Words& words, FakeFault& fault) {
  size_t used = 2;
  if (words.size() < 2) throw std::invalid_argument("no time and no request in front of ':'");
  if (words[0] == "every") {
    fault.every = static_cast<int>(number_of(words[1]));
    if (fault.every < 1) throw std::invalid_argument("every must be at least 1");
    fault.kind = kind_of(words, 2);
    used = 3;
  } else if (words[0] == "start") {
    fault.starts = static_cast<int>(number_of(words[1]));
    if (fault.starts < 1) throw std::invalid_argument("jobs are counted from 1");
    if (words.size() > 3 && words[2] == "later") {
      fault.after = duration_of(words[3]);
      used = 4;
    }
  } else if (words[0] == "after") {
    fault.after = duration_of(words[1]);
    if (words.size() > 3 && words[2] == "for") {
      fault.lasts = duration_of(words[3]);
      used = 4;
    }
    if (words.size() > used) fault.kind = kind_of(words, used++);
  } else {
    fault.kind = kind_of(words, 0);
    read_range(words[1], fault);
    if (words.size() > 3 && words[2] == "for") {
      fault.last = std::numeric_limits<int>::max();
      fault.lasts = duration_of(words[3]);
      used = 4;
    }
  }
  if (words.size() != used) throw std::invalid_argument("'" + words[used] + "' is too much");
}

void read_what(const Words& words, FakeFault& fault) {
  if (words.empty() || !mishaps().contains(words[0])) throw std::invalid_argument("no such fault");
  fault.what = mishaps().at(words[0]);
  const auto argument = [&](size_t at) {
    return at < words.size() ? std::optional(words[at]) : std::nullopt;
  };
  switch (fault.what) {
    case Mishap::kDelay:
    case Mishap::kForget:
      fault.number = duration_of(argument(1).value_or("")).count();
      break;
    case Mishap::kHung:
      fault.number = duration_of(argument(1).value_or("0ms")).count();
      fault.late = duration_of(argument(2).value_or("0ms")).count();
      break;
    case Mishap::kStatus:
    case Mishap::kStatusAfter:
    case Mishap::kClock:
      fault.number = number_of(argument(1).value_or(""));
      break;
    case Mishap::kRowsMissing:
      fault.number = argument(1) ? number_of(*argument(1)) : std::numeric_limits<int>::max();
      break;
    case Mishap::kDropAnswer:
    case Mishap::kLoseRequest:
    case Mishap::kControllerDown:
    case Mishap::kUnauthorized:
    case Mishap::kCut:
    case Mishap::kUnknownState:
    case Mishap::kRefusePartition:
    case Mishap::kRequeue:
    case Mishap::kKillNode:
    case Mishap::kPurge:
      break;
  }
}

FakeFault parse_fault(const std::string& line) {
  try {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) throw std::invalid_argument("no ':' in it");
    FakeFault fault;
    fault.text = line;
    read_when(words_of(line.substr(0, colon)), fault);
    read_what(words_of(line.substr(colon + 1)), fault);
    if (fault.starts > 0 && !is_of_the_cluster(fault.what)) {
      throw std::invalid_argument("no request is meant by 'start'");
    }
    return fault;
  } catch (const std::logic_error& error) {
    throw std::invalid_argument("fault '" + line + "': " + error.what());
  }
}

bool is_of_kind(const FakeFault& fault, Asked kind) {
  return fault.kind == Asked::kAny || fault.kind == kind;
}

bool is_its_time(const FakeFault& fault, milliseconds now) {
  return now >= fault.after && (fault.lasts.count() == 0 || now < fault.after + fault.lasts);
}

bool happens(FakeFault& fault, milliseconds now) {
  ++fault.seen;
  if (fault.every > 0) return fault.seen % fault.every == 0;
  if (fault.first > 0) {
    if (fault.seen == fault.first) fault.begins = now;
    const bool lasts = fault.lasts.count() == 0 || now < fault.begins + fault.lasts;
    return fault.seen >= fault.first && fault.seen <= fault.last && lasts;
  }
  return is_its_time(fault, now);
}

}  // namespace

bool is_of_the_cluster(Mishap what) {
  switch (what) {
    case Mishap::kForget:
    case Mishap::kRequeue:
    case Mishap::kKillNode:
    case Mishap::kClock:
    case Mishap::kPurge:
      return true;
    case Mishap::kDropAnswer:
    case Mishap::kLoseRequest:
    case Mishap::kDelay:
    case Mishap::kHung:
    case Mishap::kControllerDown:
    case Mishap::kStatus:
    case Mishap::kStatusAfter:
    case Mishap::kUnauthorized:
    case Mishap::kCut:
    case Mishap::kUnknownState:
    case Mishap::kRowsMissing:
    case Mishap::kRefusePartition:
      return false;
  }
  return false;
}

FaultScript::FaultScript(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    if (!words_of(line).empty()) faults_.push_back(parse_fault(line));
  }
}

std::vector<FakeFault> FaultScript::meet(Asked kind, milliseconds since_start) {
  std::vector<FakeFault> met;
  for (FakeFault& fault : faults_) {
    const bool by_time = fault.first == 0 && fault.every == 0;
    if (!is_of_kind(fault, kind) || (by_time && is_of_the_cluster(fault.what))) continue;
    if (happens(fault, since_start)) met.push_back(fault);
  }
  return met;
}

std::vector<FakeFault> FaultScript::due(milliseconds since_start, int jobs_started) {
  std::vector<FakeFault> met;
  for (FakeFault& fault : faults_) {
    const bool by_time = fault.first == 0 && fault.every == 0;
    if (!by_time || !is_of_the_cluster(fault.what) || fault.over) continue;
    if (jobs_started < fault.starts) continue;
    if (fault.starts > 0 && fault.begins.count() == 0) fault.begins = since_start;
    if (since_start < fault.begins + fault.after) continue;
    fault.over = true;
    met.push_back(fault);
  }
  return met;
}

}  // namespace tests
