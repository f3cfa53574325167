// How long a search takes at each width: T(g) = (W / g) (1 + h_g) + s + u_g seconds on g GPUs.
//
// W: seconds on one GPU, the number of correlations divided by the measured rate. h_g: what waiting
// for the slowest rank costs. s: the serial part (read, filter, reduce, write). u_g: from the job's
// start to the first correlation. All are measured on the site's own jobs.
#pragma once

#include <cstdint>
#include <map>

#include "scheduler/config/width.h"

namespace scheduler {

struct RuntimeModel {
  std::map<int, double> straggler_loss{{1, 0.0}};  // h, a fraction, by GPUs
  double serial_seconds = 20;                      // s
  double start_seconds_gpu = 15;                   // u of one GPU
  double start_seconds_node = 20;                  // u of one node
  double start_seconds_nodes = 45;                 // u of several nodes
  double warm_serial_seconds = 5;  // s of a worker that has already searched; its u is 0
  double sigma = 0.2;              // standard deviation of log(seconds)
};

enum class Start { kCold, kWarm };

// h for `gpus` GPUs: between two measured numbers of GPUs it is interpolated linearly in the
// logarithm of the number; beyond them it is that of the nearest.
double straggler_loss(const RuntimeModel& model, int gpus);

// T(g) in seconds for `work` seconds on one GPU. Throws std::invalid_argument for negative work.
double run_seconds(const RuntimeModel& model, double work, const Width& width,
                   Start start = Start::kCold);

// z for the duration T exp(z sigma) that this share of the searches does not exceed.
constexpr double kMedian = 0;
constexpr double kNinetyPercent = 1.2816;
constexpr double kNinetyFivePercent = 1.645;
double bounded(double seconds, const RuntimeModel& model, double z);

// E(g) = W / (g T(g)): the share of the GPUs' time that is spent on correlations.
double efficiency(const RuntimeModel& model, double work, const Width& width,
                  Start start = Start::kCold);

// The time limit in seconds that a job should ask for: 1.15 times the duration that 95 % of
// searches do not exceed, plus the time for a checkpoint, rounded up to five minutes, at most
// `longest` (the partition's; 0: no limit).
int64_t time_limit(const RuntimeModel& model, double seconds, double checkpoint_seconds,
                   int64_t longest);

}  // namespace scheduler
