// What goes wrong with the fake slurmrestd, and when: a text of lines `WHEN: WHAT`, '#' begins a
// comment.
//
// WHEN  KIND N | KIND N-M | KIND N+     the n-th request of that kind, counted from 1
//       KIND N for T                    from the n-th one on, for a time
//       every K KIND                    each k-th one
//       after T [for T] [KIND]          from a time after the script was given, for ever without
//       "for";
//                                       what happens to the cluster happens once
//       start N [later T]               when the n-th job has started; of what happens to the
//       cluster
// KIND  any submit list get update delete accounting ping
// T     200ms, 2s
//
// WHAT, of one request:
//   drop-answer          done, and the connection closed without an answer
//   lose-request         not done, the connection closed
//   delay T              done and answered so late
//   hung [T] [LATE]      Slurm's "Socket timed out" after T; a submission is done all the same,
//   LATE
//                        after the answer (a controller that hangs)
//   controller-down      as slurmrestd answers without a controller; not done
//   status N             no body, not done;   status-after N: no body, done
//   unauthorized         as to a token that has ended; not done
//   cut                  done; the JSON ends in its middle
//   unknown-state        every job is in a state that nobody knows
//   rows-missing [N]     whole JSON without the last N jobs; without N, without any
//   refuse-partition     a submission is refused for its partition
// and of the cluster, once each time:
//   forget T             the controller crashes and forgets the jobs of the last T; it uses their
//   ids
//                        again
//   requeue              the youngest running job goes back to the queue under its id
//   kill-node            the youngest running job ends with its node
//   clock S              all times shown jump by S seconds, which may be negative
//   purge                the ended jobs are gone from the controller
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tests {

enum class Asked { kAny, kSubmit, kList, kGet, kUpdate, kDelete, kAccounting, kPing };

enum class Mishap {
  kDropAnswer,
  kLoseRequest,
  kDelay,
  kHung,
  kControllerDown,
  kStatus,
  kStatusAfter,
  kUnauthorized,
  kCut,
  kUnknownState,
  kRowsMissing,
  kRefusePartition,
  kForget,
  kRequeue,
  kKillNode,
  kClock,
  kPurge,
};

struct FakeFault {
  // When.
  Asked kind = Asked::kAny;
  int first = 0;  // of the requests; 0: by time
  int last = 0;
  int every = 0;
  std::chrono::milliseconds after{0};
  std::chrono::milliseconds lasts{0};  // 0: for ever, or once
  int starts = 0;                      // of jobs; `after` counts from there
  // What.
  Mishap what = Mishap::kDropAnswer;
  int64_t number = 0;  // milliseconds, HTTP status, rows or seconds
  int64_t late = 0;    // milliseconds
  std::string text{};  // the line

  int seen = 0;                         // requests of its kind
  bool over = false;                    // what happens once has happened
  std::chrono::milliseconds begins{0};  // when its job was seen started, or its first request
};

// True for a fault of the cluster, false for a fault of a request.
bool is_of_the_cluster(Mishap what);

class FaultScript {
 public:
  // Throws std::invalid_argument naming the line.
  explicit FaultScript(const std::string& text = "");

  // What this request meets. Counts it.
  std::vector<FakeFault> meet(Asked kind, std::chrono::milliseconds since_start);
  // What happens to the cluster by now, when `jobs_started` jobs have started.
  std::vector<FakeFault> due(std::chrono::milliseconds since_start, int jobs_started);

 private:
  std::vector<FakeFault> faults_;
};

}  // namespace tests
