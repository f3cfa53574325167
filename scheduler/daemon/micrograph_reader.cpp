#include "scheduler/daemon/micrograph_reader.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <system_error>
#include <tuple>
#include <utility>

#include "db/items.h"
#include "scheduler/daemon/waiting_items.h"
#include "scheduler/files/registered_file.h"

namespace scheduler {
namespace {

using Steady = std::chrono::steady_clock;

// Stored in one durable transaction; somebody more urgent may come meanwhile.
constexpr int64_t kMostAtOnce = 100;
constexpr std::chrono::seconds kLongestAtOnce{1};

constexpr double kHalfLife = 3600;  // seconds

}  // namespace

void add_time(ReadingTimes& times, int64_t owner_uid, double seconds) {
  for (auto& [uid, time] : times) time *= std::exp2(-seconds / kHalfLife);
  times[owner_uid] += seconds;
}

std::optional<db::UnreadGroup> next_group(const std::vector<db::UnreadGroup>& groups,
                                          const ReadingTimes& times) {
  if (groups.empty()) return std::nullopt;
  const auto place = [&](const db::UnreadGroup& group) {
    const auto known = times.find(group.owner_uid);
    return std::tuple(group.priority, known == times.end() ? 0.0 : known->second, group.owner_uid);
  };
  return *std::min_element(groups.begin(), groups.end(),
                           [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

// nullopt: stopped meanwhile.
std::optional<MicrographReader::Reading> MicrographReader::read(const db::Item& item) const {
  Reading reading{.item = item};
  try {
    FileFacts registered = micrograph_of(item);
    FoundFile found = find_registered(registered);
    if (found.change == FileChange::kAway) {
      reading.away = "micrograph " + found.text;
      return reading;
    }
    const bool renumbered =
        found.change == FileChange::kRenumbered && !item.micrograph_sha256.empty();
    if (found.change == FileChange::kNone || renumbered) {
      registered.id = found.id;
      const auto hash = hash_file_unless(found.descriptor.get(), registered.bytes, stopped_);
      if (!hash) return std::nullopt;
      const FoundFile after = find_registered(registered);
      if (after.change == FileChange::kNone && after.ctime_ns != found.ctime_ns) {
        reading.away = "micrograph '" + registered.path + "' changed while it was read";
        return reading;
      }
      reading.sha256 = *hash;
      reading.ctime_ns = found.ctime_ns;
      reading.id = found.id;
      const bool same = item.micrograph_sha256.empty() || item.micrograph_sha256 == *hash;
      if (renumbered && same && after.change != FileChange::kRenumbered) {
        found.change = FileChange::kNone;
      } else if (!renumbered && !same) {
        found = {.change = FileChange::kOther,
                 .text = "'" + registered.path +
                         "' has other content than when it was registered, although its size and "
                         "time are the same"};
      }
    }
    if (found.change != FileChange::kNone) reading.wrong = "micrograph " + problem_of(found);
  } catch (const std::system_error& error) {
    reading.away = error.what();
  }
  return reading;
}

void MicrographReader::store(const std::vector<Reading>& readings) const {
  db::ItemStore items(context_.database);
  {
    db::Transaction transaction(context_.database);
    for (const Reading& reading : readings) {
      if (reading.ctime_ns == 0 || !reading.wrong.empty()) continue;
      db::Item item = items.find(reading.item.id).value();
      if (!still_unread(reading.item)(item)) continue;
      item.micrograph_sha256 = reading.sha256;
      item.micrograph_ctime_ns = reading.ctime_ns;
      item.micrograph_id = reading.id;
      items.update(item);
    }
    transaction.commit();
  }
  for (const Reading& reading : readings) {
    if (!reading.wrong.empty()) {
      end_waiting(context_, reading.item.id, db::ItemState::kQuarantined, reading.wrong,
                  still_unread(reading.item));
    } else if (!reading.away.empty()) {
      postpone_waiting(context_, reading.item.id, reading.away, still_unread(reading.item));
    }
  }
}

bool MicrographReader::read_some() {
  const auto group =
      next_group(db::QueueStore(context_.database).unread(context_.clock.now()), times_);
  if (!group) return false;
  const auto start = Steady::now();
  std::vector<Reading> readings;
  for (const int64_t id :
       db::QueueStore(context_.database).unread_of(*group, context_.clock.now(), kMostAtOnce)) {
    auto reading = read(db::ItemStore(context_.database).find(id).value());
    if (reading) readings.push_back(std::move(*reading));
    if (stopped_ || Steady::now() - start >= kLongestAtOnce) break;
  }
  const std::chrono::duration<double> took = Steady::now() - start;
  add_time(times_, group->owner_uid, took.count());
  store(readings);
  return true;
}

}  // namespace scheduler
