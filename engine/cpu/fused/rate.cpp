#include "engine/cpu/fused/rate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "engine/cpu/fused/kernels.h"
#include "engine/cpu/fused/large_array.h"
#include "engine/cpu/fused/layout.h"
#include "engine/cpu/fused/line.h"
#include "engine/cpu/projector.h"
#include "engine/cpu/thread_team.h"

namespace engine::cpu::fused {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kOfEachStage{250};

// The blocks of lines that one thread goes through again and again: more than its caches hold.
class Part {
 public:
  Part(const Layout& layout, const Line& columns, const Line& rows, bool past_cache)
      : layout_(layout),
        columns_(columns),
        rows_(rows),
        past_cache_(past_cache),
        kernels_(choose_kernels()),
        box_(2 * layout.size * layout.lanes),
        template_rows_(layout.template_floats()),
        image_(kBlocks * layout.image_block()),
        exchange_(std::max(layout.row_blocks() * kBlocks * layout.tile(),
                           kBlocks * layout.exchange_row_block())),
        working_(layout.working_floats()),
        best_(kBlocks * layout.map_block()),
        index_(kBlocks * layout.map_block()),
        sums_(2 * layout.map_block()),
        sum_(kBlocks * layout.map_block()),
        squares_(kBlocks * layout.map_block()) {}

  void transform_template() {
    kernels_.template_rows(rows_,
                           {.first = box_.data(),
                            .second = box_.data() + layout_.size * layout_.lanes,
                            .size = layout_.size,
                            .rows = layout_.lanes,
                            .out = template_rows_.data(),
                            .tiles = layout_.template_block()},
                           working_.data());
  }

  void correlate_columns() {
    const size_t block = next_++ % kBlocks;
    kernels_.columns(columns_,
                     {.rows = template_rows_.data(),
                      .count = layout_.size,
                      .image = image_.data() + block * layout_.image_block(),
                      .out = exchange_.data() + block * layout_.tile(),
                      .row_blocks = kBlocks * layout_.tile(),
                      .wanted = layout_.valid_height,
                      .past_cache = past_cache_},
                     working_.data());
  }

  // Of a group: the sums of the search are added to once.
  void add_rows(size_t transforms) {
    const size_t block = next_++ % kBlocks;
    const size_t at = block * layout_.map_block();
    const Statistics statistics{&best_[at], &index_[at], &sum_[at], &squares_[at]};
    for (size_t t = 0; t < transforms; ++t) {
      kernels_.rows(rows_,
                    {.in = exchange_.data() + (block + t) % kBlocks * layout_.exchange_row_block(),
                     .indices = {0, 1},
                     .wanted = layout_.valid_width,
                     .sums = sums_.data(),
                     .statistics = statistics},
                    working_.data());
    }
    kernels_.add_sums(sums_.data(), statistics, layout_.valid_width);
  }

  // Touches all memory. As it is when a search is on its way, hardly a correlation is larger than
  // the largest.
  void begin() {
    for (size_t block = 0; block < kBlocks; ++block) correlate_columns();
    for (size_t block = 0; block < kBlocks; ++block) add_rows(1);
    std::fill_n(best_.data(), kBlocks * layout_.map_block(), 1.0f);
  }

 private:
  static constexpr size_t kBlocks = 32;
  const Layout& layout_;
  const Line &columns_, &rows_;
  const bool past_cache_;
  const Kernels& kernels_;
  LargeArray<float> box_, template_rows_, image_, exchange_, working_, best_;
  LargeArray<int32_t> index_, sums_;
  LargeArray<int64_t> sum_, squares_;
  size_t next_ = 0;
};

// Seconds of one call, all threads at it at once.
double seconds_of(ThreadTeam& team, const std::function<void(size_t)>& work) {
  std::vector<double> rates(static_cast<size_t>(team.size()));
  team.run(rates.size(), [&](size_t thread, int) {
    work(thread);  // touches the memory
    int calls = 0;
    const auto start = Clock::now();
    auto now = start;
    do {
      work(thread);
      ++calls;
      now = Clock::now();
    } while (now - start < kOfEachStage);
    rates[thread] = calls / std::chrono::duration<double>(now - start).count();
  });
  double rate = 0;
  for (const double each : rates) rate += each;
  return 1 / rate;
}

// Of a projection with its slice. A smaller template stands for a large one, whose volume would
// take long to make.
double seconds_of_projection(int size, ThreadTeam& team) {
  const int n = std::min(size, 128);
  const auto points = static_cast<size_t>(n) * static_cast<size_t>(n);
  const size_t half = points / static_cast<size_t>(n) * (static_cast<size_t>(n) / 2 + 1);
  Problem problem;
  problem.height = problem.width = 2 * n;
  problem.template_size = n;
  problem.volume_spectrum.assign(half * static_cast<size_t>(n), 1.0f);
  problem.filters.assign(1, std::vector<std::complex<float>>(half, 1.0f));
  problem.orientations = {{.phi = 20, .theta = 40, .psi = 60}};
  const std::vector<Unit> units(static_cast<size_t>(team.size()), Unit{0, 0});
  Projector projector(problem, team.size(), team.size(), 1.0);
  int calls = 0;
  const auto start = Clock::now();
  auto now = start;
  do {
    projector.project(units, team);
    ++calls;
    now = Clock::now();
  } while (now - start < kOfEachStage);
  const double each = std::chrono::duration<double>(now - start).count() / calls /
                      static_cast<double>(units.size());
  return each * size * size / static_cast<double>(points);
}

}  // namespace

double measure_rate(const ProblemShape& shape, const MemoryPlan& plan) {
  const Layout layout(shape);
  const Line columns(static_cast<int>(layout.height));
  const Line rows(static_cast<int>(layout.width));
  const auto transforms = static_cast<size_t>(plan.transforms);
  ThreadTeam team(plan.threads);
  std::vector<Part> parts;
  for (int i = 0; i < team.size(); ++i) {
    parts.emplace_back(layout, columns, rows, layout.past_cache(transforms));
    parts.back().begin();
  }
  const auto blocks = [&](size_t lines) {
    return static_cast<double>((lines + layout.lanes - 1) / layout.lanes);
  };
  const double seconds =
      blocks(layout.size) * seconds_of(team, [&](size_t i) { parts[i].transform_template(); }) +
      blocks(layout.width) * seconds_of(team, [&](size_t i) { parts[i].correlate_columns(); }) +
      blocks(layout.valid_height) / static_cast<double>(transforms) *
          seconds_of(team, [&](size_t i) { parts[i].add_rows(transforms); }) +
      seconds_of_projection(shape.template_size, team);
  return 2 / seconds;
}

}  // namespace engine::cpu::fused
