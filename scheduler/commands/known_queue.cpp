#include "scheduler/commands/known_queue.h"

#include <algorithm>

#include "db/items.h"
#include "db/pauses.h"
#include "scheduler/commands/pause_text.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/states/lanes.h"

namespace scheduler {
namespace {

bool waits(db::AttemptState state) {
  return state == db::AttemptState::kSubmitting || state == db::AttemptState::kUnknown ||
         state == db::AttemptState::kPending;
}

void add_attempt(const db::OpenAttempt& attempt, PlanItem& item) {
  item.started = attempt.started;
  item.first_job = attempt.number == 1;
  item.width = Width{.nodes = attempt.nodes, .gpus_per_node = attempt.gpus_per_node};
  item.waits = attempt.state == db::AttemptState::kPending;
  item.stoppable = item.waits || attempt.state == db::AttemptState::kRunning;
  item.stop_asked = attempt.stop_asked;
  item.by_floor = attempt.by_floor;
}

void drop_attempt(PlanItem& item) {
  item.width.reset();
  item.waits = item.stoppable = item.stop_asked = item.by_floor = false;
}

// A vector that grows by itself may hold twice what it needs.
void make_room(std::vector<PlanItem>& items, size_t more) {
  const size_t needed = items.size() + more;
  if (needed > items.capacity()) items.reserve(needed + needed / 16);
}

bool has_lower_id(const PlanItem& a, const PlanItem& b) { return a.id < b.id; }

std::vector<PlanItem>::iterator place_of(std::vector<PlanItem>& items, int64_t id) {
  return std::lower_bound(items.begin(), items.end(), id,
                          [](const PlanItem& item, int64_t wanted) { return item.id < wanted; });
}

}  // namespace

QueueSnapshot& KnownQueue::read(int64_t now, const ClusterLimits& limits) {
  const std::scoped_lock lock(database_.mutex());
  const bool same_limits = snapshot_.limits.plain_place == limits.plain_place &&
                           snapshot_.limits.class_options == limits.class_options &&
                           snapshot_.limits.urgent_lane == limits.urgent_lane;
  // What was taken is lost when reading fails.
  const bool was_known = std::exchange(is_known_, false) && same_limits;
  db::ChangedItems changed = database_.take_changed_items();
  snapshot_ = {.now = now,
               .limits = limits,
               .items = std::move(snapshot_.items),
               .kinds = std::move(snapshot_.kinds),
               .groups = std::move(snapshot_.groups)};
  if (!was_known || changed.all) {
    read_items();
  } else if (!changed.ids.empty()) {
    read_changed(std::move(changed.ids));
  }
  read_attempts();
  hold_paused_lanes();
  is_known_ = true;
  return snapshot_;
}

void KnownQueue::read_items() {
  snapshot_.items.clear();
  asks_.clear();
  kinds_.clear();
  snapshot_.kinds.clear();
  groups_.clear();
  snapshot_.groups.clear();
  make_room(snapshot_.items, static_cast<size_t>(db::QueueStore(database_).count_items()));
  db::QueueStore(database_).each_item(
      [this](const db::QueuedItem& row) { snapshot_.items.push_back(item_of(row)); });
}

void KnownQueue::read_changed(std::vector<int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<PlanItem>& items = snapshot_.items;
  std::vector<PlanItem> read;
  for (const db::QueuedItem& row : db::QueueStore(database_).items(ids)) {
    read.push_back(item_of(row));
  }
  std::erase_if(items, [&](const PlanItem& item) {
    return std::binary_search(ids.begin(), ids.end(), item.id);
  });
  const auto middle = static_cast<std::ptrdiff_t>(items.size());
  make_room(items, read.size());
  items.insert(items.end(), std::make_move_iterator(read.begin()),
               std::make_move_iterator(read.end()));
  // New ones mostly have the highest numbers.
  if (!std::is_sorted(items.begin(), items.end(), has_lower_id)) {
    std::inplace_merge(items.begin(), items.begin() + middle, items.end(), has_lower_id);
  }
  forget_asks();
}

void KnownQueue::read_attempts() {
  for (PlanItem& item : snapshot_.items) {
    if (item.state == db::ItemState::kActive) drop_attempt(item);
  }
  for (const db::OpenAttempt& attempt : db::QueueStore(database_).attempts()) {
    ++snapshot_.busy_slots;
    // An attempt that stops to resume with another shape will wait in the cluster again.
    const bool waits_there = waits(attempt.state) || attempt.stop_asked;
    if (!waits_there) ++snapshot_.running;
    const auto item = place_of(snapshot_.items, attempt.item_id);
    if (item == snapshot_.items.end() || item->id != attempt.item_id ||
        item->state != db::ItemState::kActive) {
      continue;
    }
    if (waits_there && is_stuck(attempt, asks_of(*item).own_options)) {
      ++snapshot_.stuck[item->owner];
    } else if (waits_there && asks_of(*item).own_room) {
      ++snapshot_.pending_apart[{item->priority, item->owner}];
    } else if (waits_there) {
      ++snapshot_.pending[item->priority];
    }
    add_attempt(attempt, *item);
  }
}

// Of all that is asked for, and of the items of each class that ask for nothing.
void KnownQueue::hold_paused_lanes() {
  const auto pauses = db::PauseStore(database_).lanes();
  if (pauses.empty()) return;
  const ClusterLimits& limits = snapshot_.limits;
  const auto hold = [&](db::Priority priority, const auto& place, const std::string& lane) {
    const db::LanePause* pause = paused_by(pauses, priority, place, limits);
    if (pause != nullptr) snapshot_.held_lanes.emplace(lane, pause_text(*pause));
  };
  for (const auto& [key, asks] : asks_) {
    if (asks) hold(key.second, asks->place, asks->lane);
  }
  for (const db::Priority priority :
       {db::Priority::kLive, db::Priority::kUrgent, db::Priority::kHigh, db::Priority::kNormal,
        db::Priority::kLow}) {
    hold(priority, ItemAsks().place, lane_of_item(priority, {}, limits));
  }
}

PlanItem KnownQueue::item_of(const db::QueuedItem& row) {
  return {.id = row.id,
          .priority = row.priority,
          .state = row.state,
          .cancel_requested = row.cancel_requested,
          .unread = row.micrograph_ctime_ns == 0,
          .kind = kind_of(row),
          .group = group_of(row),
          .created = row.created,
          .not_before = row.not_before,
          .owner = row.owner_uid,
          .template_id = row.template_id,
          .asks = asks_of_row(row),
          .finish_by = row.finish_by,
          .left = static_cast<float>(std::clamp(1 - row.searched, 0.0, 1.0))};
}

int KnownQueue::kind_of(const db::QueuedItem& row) {
  if (row.micrograph_width == 0) return -1;
  const SearchKind kind{.template_id = row.template_id,
                        .image_width = row.micrograph_width,
                        .image_height = row.micrograph_height};
  const auto [known, is_new] =
      kinds_.try_emplace({kind.template_id, kind.image_width, kind.image_height},
                         static_cast<int>(snapshot_.kinds.size()));
  if (is_new) snapshot_.kinds.push_back(kind);
  return known->second;
}

int KnownQueue::group_of(const db::QueuedItem& row) {
  const auto [known, is_new] =
      groups_.try_emplace(row.group, static_cast<int>(snapshot_.groups.size()));
  if (is_new) snapshot_.groups.push_back({.name = row.group});
  return known->second;
}

KnownQueue::Asks KnownQueue::asks_of_row(const db::QueuedItem& row) {
  const ClusterLimits& limits = snapshot_.limits;
  const auto [known, is_new] = asks_.try_emplace({row.options, row.priority}, nullptr);
  if (!is_new) return known->second;
  ItemAsks asks = asks_of(row.priority, db::parse_options(row.options), limits);
  const bool nothing = !asks.own_options && !asks.own_width && !asks.own_room &&
                       asks.lane.empty() && asks.size.empty() && asks.place.empty();
  if (!nothing) known->second = std::make_shared<const ItemAsks>(std::move(asks));
  return known->second;
}

// Names and mail addresses are different in each item's options.
void KnownQueue::forget_asks() {
  constexpr size_t kFew = 100;
  if (asks_.size() <= kFew) return;
  std::erase_if(asks_, [](const auto& entry) { return entry.second.use_count() <= 1; });
}

}  // namespace scheduler
