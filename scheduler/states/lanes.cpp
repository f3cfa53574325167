#include "scheduler/states/lanes.h"

#include <algorithm>
#include <array>
#include <set>

namespace scheduler {
namespace {

constexpr std::array kPlace = {"account", "partition", "qos", "reservation"};

// One of "gpu,fast" is "gpu".
bool has(const std::string& list, const std::string& name) {
  return ("," + list + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

bool is_place(const std::string& option) {
  return std::find(kPlace.begin(), kPlace.end(), option) != kPlace.end();
}

bool is_in_lane(const std::map<std::string, std::string>& place,
                const std::map<std::string, std::string>& lane) {
  return std::all_of(lane.begin(), lane.end(), [&](const auto& named) {
    const auto asked = place.find(named.first);
    return asked != place.end() && has(asked->second, named.second);
  });
}

std::string lane_of(const std::map<std::string, std::string>& own_options,
                    const std::map<std::string, std::string>& plain, const std::string& own_kind) {
  std::string lane;
  const auto add = [&](const std::string& part) { lane += (lane.empty() ? "" : ", ") + part; };
  for (const char* option : kPlace) {
    const auto own = own_options.find(option);
    if (own == own_options.end()) continue;
    const auto same = plain.find(option);
    if (same == plain.end() || same->second != own->second) add(own->first + "=" + own->second);
  }
  if (!own_kind.empty()) add(own_kind);
  return lane;
}

std::string size_of(const std::map<std::string, std::string>& own_options) {
  static const std::set<std::string> sizes = {
      "time",          "nodes", "ntasks",        "ntasks-per-node",
      "cpus-per-task", "mem",   "mem-per-cpu",   "mem-per-gpu",
      "gres",          "gpus",  "gpus-per-node", "gpus-per-task",
      "exclusive"};
  std::string size;
  for (const auto& [option, value] : own_options) {
    if (sizes.count(option) == 0) continue;
    size += (size.empty() ? "" : ", ") + option + (value.empty() ? "" : "=") + value;
  }
  return size;
}

std::string sized_lane(const std::string& lane, const std::string& size) {
  return lane + (lane.empty() || size.empty() ? "" : " with ") + size;
}

bool Lanes::hold(const std::string& lane, const std::string& why, int64_t now_ms) {
  Hold& hold = holds_[lane];
  const bool news = hold.why != why;
  hold.why = why;
  const bool waited = hold.wait.count() > 0 && !hold.opened_early;
  if (waited) hold.wait = std::min(hold.wait * 2, std::max(first_, longest_));
  if (hold.wait.count() == 0) hold.wait = first_;
  hold.opened_early = false;
  hold.until_ms = now_ms + hold.wait.count();
  return news;
}

void Lanes::open_early(Hold& hold) {
  hold.until_ms = 0;
  hold.opened_early = true;
}

void Lanes::job_ended() {
  for (auto& [lane, hold] : holds_) open_early(hold);
}

void Lanes::job_ended(const std::string& lane) {
  const auto hold = holds_.find(lane);
  if (hold != holds_.end()) open_early(hold->second);
}

bool Lanes::is_held(const std::string& lane, int64_t now_ms) const {
  const auto hold = holds_.find(lane);
  return hold != holds_.end() && now_ms < hold->second.until_ms;
}

std::set<std::string> Lanes::refused() const {
  std::set<std::string> lanes;
  for (const auto& [lane, hold] : holds_) lanes.insert(lane);
  return lanes;
}

std::map<std::string, std::string> Lanes::held(int64_t now_ms) const {
  std::map<std::string, std::string> held;
  for (const auto& [lane, hold] : holds_) {
    if (now_ms < hold.until_ms) held[lane] = hold.why;
  }
  return held;
}

}  // namespace scheduler
