// Lanes: where jobs wait in the cluster. A job with the site's settings is in the plain lane; an
// item whose own options name another partition, account, QOS or reservation, or that gets another
// shape, is in another lane. A refusal in one lane says nothing about the others.
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
// job of the site asks for; an item that asks for the same is in the plain lane. `own_kind`: how
// else its jobs differ, such as "shape nodes"; empty when they are plain.
std::string lane_of(const std::map<std::string, std::string>& own_options,
                    const std::map<std::string, std::string>& plain, const std::string& own_kind);

// Whether the option is part of a place: account, partition, QOS or reservation.
bool is_place(const std::string& option);

// Whether a job that asks for this place is in `lane`: in "partition=gpu" also if it names an
// account, too, or may run in one of several partitions.
bool is_in_lane(const std::map<std::string, std::string>& place,
                const std::map<std::string, std::string>& lane);

// The size that an item asks for: "mem=600G, time=10-00:00:00"; empty when its own options leave it
// to the site. A limit on account or QOS may refuse this size alone; then only items of the same
// size in that lane are held.
std::string size_of(const std::map<std::string, std::string>& own_options);

// The name of the jobs of this size in this lane: "qos=long with time=30-0"; in the plain lane
// "time=30-0". With an empty size it is the name of the lane.
std::string sized_lane(const std::string& lane, const std::string& size);

class Lanes {
 public:
  // A refused lane is tried again after `first`; this wait doubles with each refusal up to
  // `longest`.
  Lanes(std::chrono::milliseconds first, std::chrono::milliseconds longest)
      : first_(first), longest_(longest) {}

  // Holds the lane after the cluster refused a job of it. Returns true when `why` is new.
  bool hold(const std::string& lane, const std::string& why, int64_t now_ms);
  // Ends the hold: the cluster accepted a job of this lane.
  void accepted(const std::string& lane) { holds_.erase(lane); }
  // One of our jobs has ended, so a limit may allow another: each lane may be tried at once.
  void job_ended();
  // A job of this lane has ended: only this lane may be tried at once, since jobs of others make no
  // room in it.
  void job_ended(const std::string& lane);
  bool empty() const { return holds_.empty(); }
  bool is_held(const std::string& lane, int64_t now_ms) const;
  // The lanes of which a job was refused and none accepted since.
  std::set<std::string> refused() const;
  // The lanes that are held, with the reasons.
  std::map<std::string, std::string> held(int64_t now_ms) const;

 private:
  struct Hold {
    std::string why{};
    std::chrono::milliseconds wait{0};
    int64_t until_ms = 0;
    bool opened_early = false;  // by a job's end: the next refusal does not double the wait
  };
  static void open_early(Hold& hold);

  std::chrono::milliseconds first_;
  std::chrono::milliseconds longest_;
  std::map<std::string, Hold> holds_;
};

}  // namespace scheduler
