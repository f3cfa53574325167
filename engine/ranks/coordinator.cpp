#include "engine/ranks/coordinator.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace engine {
namespace {

uint32_t units_of(const std::vector<UnitRange>& ranges) {
  uint32_t units = 0;
  for (const UnitRange& range : ranges) units += range.size();
  return units;
}

// The first `count` units and the others.
std::pair<std::vector<UnitRange>, std::vector<UnitRange>> split(
    const std::vector<UnitRange>& ranges, uint32_t count) {
  std::vector<UnitRange> first;
  std::vector<UnitRange> rest;
  for (const UnitRange& range : ranges) {
    const uint32_t here = std::min(count, range.size());
    if (here > 0) first.push_back({range.begin, range.begin + here});
    if (here < range.size()) rest.push_back({range.begin + here, range.end});
    count -= here;
  }
  return {std::move(first), std::move(rest)};
}

}  // namespace

Coordinator::Coordinator(Division division, std::vector<int32_t> costs, std::vector<bool> finished)
    : division_(std::move(division)),
      costs_(std::move(costs)),
      finished_(std::move(finished)),
      ranks_(static_cast<size_t>(division_.ranks)) {
  assert(costs_.size() == finished_.size());
  const auto units = static_cast<uint32_t>(costs_.size());
  for (uint32_t begin = 0; begin < units;) {
    uint32_t end = begin;
    while (end < units && finished_[end] == finished_[begin]) ++end;
    if (finished_[begin]) {
      done_ += correlations_of({{begin, end}});
    } else {
      todo_.push_back({begin, end});
      todo_units_ += end - begin;
    }
    begin = end;
  }
  std::reverse(todo_.begin(), todo_.end());
}

int64_t Coordinator::correlations_of(const std::vector<UnitRange>& ranges) const {
  int64_t correlations = 0;
  for (const UnitRange& range : ranges) {
    for (uint32_t unit = range.begin; unit < range.end; ++unit) correlations += costs_[unit];
  }
  return correlations;
}

void Coordinator::take_back(const std::vector<UnitRange>& ranges) {
  todo_.insert(todo_.end(), ranges.rbegin(), ranges.rend());
  todo_units_ += units_of(ranges);
}

void Coordinator::set_batch(int rank, int batch) {
  ranks_[static_cast<size_t>(rank)].batch = std::max(1, batch);
}

std::vector<Assignment> Coordinator::on_request(int rank, uint32_t done, double now) {
  now_ = now;
  Rank& asking = ranks_[static_cast<size_t>(rank)];
  // A message of a rank that was lost may still be on its way.
  if (!asking.live || asking.asking) return {};
  auto [finished, rest] = split(asking.chunk, done);
  const uint32_t units = units_of(finished);
  if (units > 0 && now > asking.begun) asking.rate = units / (now - asking.begun);
  done_ += correlations_of(finished);
  asking.unmerged.insert(asking.unmerged.end(), finished.begin(), finished.end());
  take_back(rest);
  asking.chunk.clear();
  asking.asking = true;
  return dispatch();
}

std::vector<Assignment> Coordinator::request_merge(bool stop) {
  const bool hurry = !over_ && (!merge_wanted_ || (stop && !stop_wanted_));
  merge_wanted_ = true;
  stop_wanted_ = stop_wanted_ || stop;
  std::vector<Assignment> assignments;
  for (size_t i = 0; hurry && i < ranks_.size(); ++i) {
    if (ranks_[i].live && !ranks_[i].chunk.empty()) {
      assignments.push_back({static_cast<int>(i), {.kind = OrderKind::kYield}});
    }
  }
  const std::vector<Assignment> orders = dispatch();
  assignments.insert(assignments.end(), orders.begin(), orders.end());
  return assignments;
}

std::optional<std::vector<Assignment>> Coordinator::on_merged(int round) {
  if (!in_round_ || round != round_) return std::nullopt;
  in_round_ = false;
  merge_wanted_ = false;
  for (Rank& rank : ranks_) {
    for (const UnitRange& range : rank.unmerged) {
      std::fill(finished_.begin() + range.begin, finished_.begin() + range.end, true);
    }
    rank.merged += correlations_of(rank.unmerged);
    rank.unmerged.clear();
  }
  over_ = todo_units_ == 0 || stop_wanted_;
  if (over_) return std::vector<Assignment>{};
  return to_all({.kind = OrderKind::kMerged, .round = round});
}

std::vector<Assignment> Coordinator::end() const {
  return to_all({.kind = OrderKind::kEnd, .stopped = !complete()});
}

std::vector<Assignment> Coordinator::to_all(const Order& order) const {
  std::vector<Assignment> assignments;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].live) assignments.push_back({static_cast<int>(i), order});
  }
  return assignments;
}

std::vector<Assignment> Coordinator::on_lost(int rank) {
  assert(rank != 0);
  Rank& gone = ranks_[static_cast<size_t>(rank)];
  if (!gone.live || over_) return {};
  gone.live = false;
  take_back(gone.chunk);
  take_back(gone.unmerged);
  done_ -= correlations_of(gone.unmerged);
  gone.chunk.clear();
  gone.unmerged.clear();
  // Its part of this round's sums may be missing: the others begin the round again.
  return in_round_ ? begin_round() : dispatch();
}

bool Coordinator::complete() const {
  return std::find(finished_.begin(), finished_.end(), false) == finished_.end();
}

int Coordinator::live() const {
  return static_cast<int>(
      std::count_if(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.live; }));
}

bool Coordinator::everyone_asks() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return !rank.live || rank.asking; });
}

// Half of this rank's share of what is left, so that all end together, but no longer than a chunk
// should be: what a rank does in it is what the others wait for when statistics are merged.
uint32_t Coordinator::chunk_size(int rank) const {
  if (division_.chunk > 0) return static_cast<uint32_t>(division_.chunk);
  const double batch = ranks_[static_cast<size_t>(rank)].batch;
  const double rate = ranks_[static_cast<size_t>(rank)].rate;
  if (rate == 0) return static_cast<uint32_t>(batch);
  double all_rates = 0;
  for (const Rank& other : ranks_) {
    if (other.live) all_rates += other.rate > 0 ? other.rate : rate;
  }
  const double share = todo_units_ * rate / all_rates / 2;
  const double units = std::max(batch, std::min(share, rate * division_.chunk_seconds));
  // Whole batches keep the device busiest.
  return static_cast<uint32_t>(units / batch) * static_cast<uint32_t>(batch);
}

std::vector<UnitRange> Coordinator::take(uint32_t units) {
  std::vector<UnitRange> taken;
  while (units > 0 && !todo_.empty()) {
    UnitRange& last = todo_.back();
    const uint32_t here = std::min(units, last.size());
    taken.push_back({last.begin, last.begin + here});
    last.begin += here;
    units -= here;
    todo_units_ -= here;
    if (last.size() == 0) todo_.pop_back();
  }
  return taken;
}

std::vector<Assignment> Coordinator::begin_round() {
  in_round_ = true;
  ++round_;
  Order order{.kind = OrderKind::kMerge, .round = round_};
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].live) order.participants.push_back(static_cast<int>(i));
    ranks_[i].asking = false;
  }
  return to_all(order);
}

std::vector<Assignment> Coordinator::dispatch() {
  if (over_ || in_round_) return {};
  if (merge_wanted_ || todo_units_ == 0) {
    return everyone_asks() ? begin_round() : std::vector<Assignment>{};
  }
  std::vector<Assignment> assignments;
  for (size_t i = 0; i < ranks_.size() && todo_units_ > 0; ++i) {
    Rank& rank = ranks_[i];
    if (!rank.live || !rank.asking) continue;
    rank.chunk = take(chunk_size(static_cast<int>(i)));
    rank.begun = now_;
    rank.asking = false;
    assignments.push_back({static_cast<int>(i), {.kind = OrderKind::kWork, .chunk = rank.chunk}});
  }
  return assignments;
}

}  // namespace engine
