// The width that a waiting search is expected to get at its turn, and how long its job then takes:
// rules 0 to 3 of the policy with expected times only. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "db/records.h"
#include "scheduler/forecast/devices.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

// The width; one device where it has no GPUs.
Width with_device(const Width& width);

// Seconds of a search that takes `whole` seconds, if it runs in segments on the same GPUs, each of
// which begins with `overhead` seconds.
double in_segments(double whole, int64_t segment, double overhead);

// A search without a job, and its class.
struct WaitingSearch {
  db::Priority priority = db::Priority::kNormal;
  int kind = -1;
  const SearchTime* time = nullptr;  // never null
  double left = 1;                   // PlanItem::left
  int64_t finish_by = 0;             // seconds since the epoch; 0: it has no deadline
  bool own_place = false;            // has_own_place(): the site's width, and no segments
  JobBounds bounds{};                // those of its class and of its own place
};

class ExpectedWidths {
 public:
  // `now` in seconds since the epoch. The limits must outlive this.
  ExpectedWidths(const ClusterLimits& limits, int64_t now) : limits_(limits), now_(now) {}

  // `left`: ready items of its class that have not had their turn, this one included. nullopt when
  // its class may have no width of the menu.
  std::optional<Width> of(const WaitingSearch& search, int64_t left, Devices& devices);
  // Seconds of its job, or of all its jobs if it runs in segments.
  double run_seconds_of(const WaitingSearch& search, const Width& width);
  // The widths that its class may have, narrowest first; with fixed widths, only that one.
  std::vector<Width> allowed(const WaitingSearch& search);

 private:
  // The time of a whole search.
  struct Timed {
    Width width{};
    double seconds = 0;
  };
  using Menu = std::vector<Timed>;

  struct Known {
    int kind = -1;
    bool urgent = false;
    bool own_place = false;
    Width width{};
    double seconds = 0;
  };

  bool is_due(const WaitingSearch& search) const { return search.finish_by > now_; }
  double in_segments_of(const WaitingSearch& search, double whole, const Width& width) const;
  const Menu& menu_of(const WaitingSearch& search, const ClassWidths& rules);
  Width by_share(const Menu& menu, double share, Devices& devices);
  Width by_wait(const WaitingSearch& search, const Menu& menu, Devices& devices);

  const ClusterLimits& limits_;
  int64_t now_;
  // By class, kind, whether a deadline must be met, and the most nodes and GPUs.
  std::map<std::tuple<db::Priority, int, bool, int, int>, Menu> menus_{};
  std::vector<Known> last_{};
  int by_wait_ = 0;
};

}  // namespace scheduler
