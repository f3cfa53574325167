#include "scheduler/daemon/micrograph_reader.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <tuple>
#include <utility>

#include "db/items.h"
#include "scheduler/daemon/waiting_items.h"
#include "scheduler/files/registered_file.h"
#include "scheduler/ingest/image_size.h"

namespace scheduler {
namespace {

using Steady = std::chrono::steady_clock;

// Stored in one durable transaction; somebody more urgent may come meanwhile.
constexpr int64_t kMostAtOnce = 100;
constexpr std::chrono::seconds kLongestAtOnce{1};
constexpr std::chrono::seconds kLongestWait{2};  // for one owner, before the next

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

struct MicrographReader::Reading {
  db::Item item{};
  std::string sha256{};
  int64_t ctime_ns = 0;
  db::FileId id{};
  db::ImageSize size{};
  std::string wrong{};  // why the item cannot be searched
  std::string away{};   // why it cannot be read at present
};

// What one owner's thread reads; the thread's alone until it ends.
struct MicrographReader::Batch {
  std::vector<db::Item> items{};
  BeforeOpen before_open{};
  std::shared_ptr<std::atomic<bool>> stopped{};
  std::vector<Reading> readings{};
  Steady::duration took{};
};

// nullopt: stopped meanwhile.
std::optional<MicrographReader::Reading> MicrographReader::read(const db::Item& item,
                                                                const Batch& batch,
                                                                const OwnerThreads::Sign& sign) {
  Reading reading{.item = item};
  sign(item.micrograph_path);
  try {
    FileFacts registered = micrograph_of(item);
    if (batch.before_open) batch.before_open(registered.path);
    FoundFile found = find_registered(registered);
    if (found.change == FileChange::kAway) {
      reading.away = "micrograph " + found.text;
      return reading;
    }
    const bool renumbered =
        found.change == FileChange::kRenumbered && !item.micrograph_sha256.empty();
    if (found.change == FileChange::kNone || renumbered) {
      registered.id = found.id;
      const auto hash = hash_file_unless(found.descriptor.get(), registered.bytes, [&] {
        sign(registered.path);
        return batch.stopped->load();
      });
      if (!hash) return std::nullopt;
      reading.size = image_size(found.descriptor.get(), registered.bytes);
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
  } catch (const std::exception& error) {
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
      auto item = items.find(reading.item.id);
      if (!item || !still_unread(reading.item)(*item)) continue;
      item->micrograph_sha256 = reading.sha256;
      item->micrograph_ctime_ns = reading.ctime_ns;
      item->micrograph_id = reading.id;
      item->micrograph_size = reading.size;
      items.update(*item);
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

void MicrographReader::read_all(Batch& batch, const OwnerThreads::Sign& sign) {
  const auto start = Steady::now();
  for (const db::Item& item : batch.items) {
    auto reading = read(item, batch, sign);
    if (reading) batch.readings.push_back(std::move(*reading));
    batch.took = Steady::now() - start;
    if (*batch.stopped || batch.took >= kLongestAtOnce) return;
  }
}

void MicrographReader::finish(int64_t owner_uid, const Batch& batch) {
  add_time(times_, owner_uid, std::chrono::duration<double>(batch.took).count());
  store(batch.readings);
}

// What has been read since it was not waited for any more. False: nothing.
bool MicrographReader::store_late() {
  bool stored = false;
  for (auto late = late_.begin(); late != late_.end();) {
    if (threads_.is_busy(late->first)) {
      ++late;
      continue;
    }
    finish(late->first, *late->second);
    stored = true;
    late = late_.erase(late);
  }
  return stored;
}

std::optional<db::UnreadGroup> MicrographReader::next() {
  auto groups = db::QueueStore(context_.database).unread(context_.clock.now());
  std::erase_if(groups, [this](const auto& group) { return !threads_.may_begin(group.owner_uid); });
  return next_group(groups, times_);
}

std::shared_ptr<MicrographReader::Batch> MicrographReader::make_batch(
    const db::UnreadGroup& group) const {
  const auto batch = std::make_shared<Batch>();
  batch->before_open = before_open_;
  batch->stopped = stopped_;
  for (const int64_t id :
       db::QueueStore(context_.database).unread_of(group, context_.clock.now(), kMostAtOnce)) {
    if (auto item = db::ItemStore(context_.database).find(id)) {
      batch->items.push_back(std::move(*item));
    }
  }
  return batch;
}

bool MicrographReader::read_some() {
  const bool stored = store_late();
  const auto group = next();
  if (!group) return stored;
  const int64_t owner = group->owner_uid;
  const auto batch = make_batch(*group);
  if (batch->items.empty()) return true;  // cancelled meanwhile
  threads_.begin_round();
  threads_.begin(owner, batch->items.front().micrograph_path,
                 [batch](const OwnerThreads::Sign& sign) { read_all(*batch, sign); });
  if (threads_.ends(owner, kLongestWait)) {
    finish(owner, *batch);
  } else {
    late_.emplace(owner, batch);
  }
  return true;
}

}  // namespace scheduler
