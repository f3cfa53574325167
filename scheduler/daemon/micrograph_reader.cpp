#include "scheduler/daemon/micrograph_reader.h"

#include <algorithm>
#include <chrono>
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

}  // namespace

// The next owner after the last one in the most urgent class.
std::optional<db::UnreadGroup> MicrographReader::next_group() {
  std::vector<db::UnreadGroup> groups =
      db::QueueStore(context_.database).unread(context_.clock.now());
  if (groups.empty()) return std::nullopt;
  const auto goes_before = [this](const db::UnreadGroup& a, const db::UnreadGroup& b) {
    const auto place = [this](const db::UnreadGroup& group) {
      return std::tuple(group.priority, group.owner_uid <= last_owner_, group.owner_uid);
    };
    return place(a) < place(b);
  };
  const db::UnreadGroup next = *std::min_element(groups.begin(), groups.end(), goes_before);
  last_owner_ = next.owner_uid;
  return next;
}

// nullopt: stopped meanwhile.
std::optional<MicrographReader::Reading> MicrographReader::read(const db::Item& item) const {
  Reading reading{.item = item};
  try {
    const FileFacts registered = micrograph_of(item);
    FoundFile found = find_registered(registered);
    if (found.change == FileChange::kAway) {
      reading.away = "micrograph " + found.text;
      return reading;
    }
    if (found.change == FileChange::kNone) {
      const auto hash = hash_file_unless(found.descriptor.get(), stopped_);
      if (!hash) return std::nullopt;
      const FoundFile after = find_registered(registered);
      if (after.change == FileChange::kNone && after.ctime_ns != found.ctime_ns) {
        reading.away = "micrograph '" + registered.path + "' changed while it was read";
        return reading;
      }
      reading.sha256 = *hash;
      reading.ctime_ns = found.ctime_ns;
      if (!item.micrograph_sha256.empty() && item.micrograph_sha256 != *hash) {
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
      // Retried, cancelled or otherwise changed meanwhile.
      const bool same = difference(micrograph_of(reading.item), micrograph_of(item)).empty();
      if (!same || item.micrograph_ctime_ns != 0) continue;
      item.micrograph_sha256 = reading.sha256;
      item.micrograph_ctime_ns = reading.ctime_ns;
      items.update(item);
    }
    transaction.commit();
  }
  for (const Reading& reading : readings) {
    if (!reading.wrong.empty()) {
      end_waiting(context_, reading.item.id, db::ItemState::kQuarantined, reading.wrong);
    } else if (!reading.away.empty()) {
      postpone_waiting(context_, reading.item.id, reading.away);
    }
  }
}

bool MicrographReader::read_some() {
  const auto group = next_group();
  if (!group) return false;
  const auto end = Steady::now() + kLongestAtOnce;
  std::vector<Reading> readings;
  for (const int64_t id :
       db::QueueStore(context_.database).unread_of(*group, context_.clock.now(), kMostAtOnce)) {
    auto reading = read(db::ItemStore(context_.database).find(id).value());
    if (reading) readings.push_back(std::move(*reading));
    if (stopped_ || Steady::now() >= end) break;
  }
  store(readings);
  return true;
}

}  // namespace scheduler
