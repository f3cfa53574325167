#include "scheduler/policy/holds.h"

#include "scheduler/states/lanes.h"

namespace scheduler {
namespace {

const std::string* text_at(const std::map<int64_t, std::string>& texts, int64_t key) {
  const auto found = texts.find(key);
  return found == texts.end() ? nullptr : &found->second;
}

}  // namespace

const std::string* Holds::of(const PlanItem& item) {
  const HangingFiles& hanging = snapshot_.hanging_files;
  if (const std::string* why = text_at(hanging.micrographs, item.owner)) return why;
  if (const std::string* why = text_at(hanging.volumes, item.template_id)) return why;
  if (snapshot_.held_lanes.empty()) return nullptr;
  const auto [known, is_new] = lanes_.try_emplace(item.asks.get(), nullptr);
  if (is_new) known->second = of_lane(asks_of(item));
  return known->second;
}

const std::string* Holds::of_reading(const PlanItem& item) const {
  return text_at(snapshot_.hanging_files.unread, item.owner);
}

const std::string* Holds::of_lane(const ItemAsks& asks) const {
  for (const std::string& lane : {asks.lane, sized_lane(asks.lane, asks.size)}) {
    const auto held = snapshot_.held_lanes.find(lane);
    if (held != snapshot_.held_lanes.end()) return &held->second;
  }
  return nullptr;
}

bool is_ready(const PlanItem& item, const QueueSnapshot& snapshot, Holds& holds) {
  return item.state == db::ItemState::kQueued && !item.cancel_requested && !item.unread &&
         item.not_before <= snapshot.now && holds.of(item) == nullptr;
}

}  // namespace scheduler
