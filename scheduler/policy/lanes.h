// Lanes: where jobs wait in the cluster. A job of the site is in the plain lane; an item whose own
// options name another partition, account, QOS or reservation, or that gets another shape, has a
// lane of its own. What the cluster refuses there says nothing about the others.
//
// Pure: the caller passes the time (milliseconds of the boot clock). Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace scheduler {

// The name of the lane: "qos=short, shape nodes"; empty for the plain lane. `plain`: what a plain
// job of the site asks for; an item that asks for the same is in the plain lane. `own_kind`: what
// else its jobs differ in: "shape nodes"; empty when they are plain ones.
std::string lane_of(const std::map<std::string, std::string>& own_options,
                    const std::map<std::string, std::string>& plain, const std::string& own_kind);

// The options that make a place: account, partition, QOS and reservation.
bool is_place(const std::string& option);

// Whether a job that asks for this place would be of the lane that `lane` names: of "partition=gpu"
// also with an account of its own, or if it may run in one of several partitions.
bool is_in_lane(const std::map<std::string, std::string>& place,
                const std::map<std::string, std::string>& lane);

// What an item asks for in size: "mem=600G, time=10-00:00:00"; empty when its own options leave
// that to the site. A limit on account or QOS may refuse this alone, and then holds the items of
// the same size in that lane, as a lane does.
std::string size_of(const std::map<std::string, std::string>& own_options);

// The name of the jobs of this size in this lane: "qos=long with time=30-0"; in the plain lane
// "time=30-0". Where the item leaves the size to the site, the name of the lane.
std::string sized_lane(const std::string& lane, const std::string& size);

class Lanes {
 public:
  // A refused lane is tried again after `first`, doubled each time up to `longest`.
  Lanes(std::chrono::milliseconds first, std::chrono::milliseconds longest)
      : first_(first), longest_(longest) {}

  // The cluster refused a job of this lane. Returns true when `why` is news.
  bool hold(const std::string& lane, const std::string& why, int64_t now_ms);
  // The cluster took a job of this lane.
  void accepted(const std::string& lane) { holds_.erase(lane); }
  // One of our jobs has ended, and a limit may allow another one: each lane is tried at once.
  void job_ended();
  // The same for a job of this lane, where those of the others make no room.
  void job_ended(const std::string& lane);
  bool empty() const { return holds_.empty(); }
  bool is_held(const std::string& lane, int64_t now_ms) const;
  // Those of which a job was refused and none taken since.
  std::set<std::string> refused() const;
  // The lanes that are held, with the reasons.
  std::map<std::string, std::string> held(int64_t now_ms) const;

 private:
  struct Hold {
    std::string why{};
    std::chrono::milliseconds wait{0};
    int64_t until_ms = 0;
    bool opened_early = false;  // by a job's end: a refusal then doubles nothing
  };
  static void open_early(Hold& hold);

  std::chrono::milliseconds first_;
  std::chrono::milliseconds longest_;
  std::map<std::string, Hold> holds_;
};

}  // namespace scheduler
