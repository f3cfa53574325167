// One item to the cluster, once: the attempt is on the disk before anything is submitted, and what
// the cluster answers after it.
#pragma once

#include <optional>
#include <string>

#include "db/records.h"
#include "scheduler/policy.h"
#include "scheduler/workplace.h"

namespace scheduler {

// Why the whole lane stops; empty = it goes on.
struct LaneHold {
  std::string why{};
  bool rests = false;  // for a while, whatever the next look says
};

class Launcher {
 public:
  explicit Launcher(const Workplace& workplace) : workplace_(workplace) {}

  // An item that cannot run is quarantined.
  LaneHold launch(const Decision& decision);

 private:
  std::string check_inputs(const db::Item& item, const db::Template& search_template) const;
  std::string check_room(const db::Item& item) const;
  db::Attempt prepare(const db::Item& item, const db::Template& search_template,
                      const Decision& decision) const;
  std::string resume_from(const std::vector<db::Attempt>& earlier, int forgiven) const;
  bool store_intent(db::Attempt& attempt) const;
  LaneHold submit(db::Attempt attempt) const;
  void quarantine(const db::Item& item, const std::string& reason) const;
  void postpone(db::Item item, const std::string& reason) const;
  int threads() const;

  const Workplace& workplace_;
};

// How the file differs from what was registered: "is missing", "changed ..."; empty = it does not.
// Throws std::system_error when the file cannot be looked at, which proves nothing.
std::string how_changed(const std::string& path, int64_t bytes, int64_t mtime_ns);

}  // namespace scheduler
