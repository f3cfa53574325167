#include "engine/cpu/fused/rate.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/cpu/fused/back_transform.h"
#include "engine/cpu/fused/kernels.h"
#include "engine/cpu/fused/large_array.h"
#include "engine/cpu/fused/layout.h"
#include "engine/cpu/fused/lengths.h"
#include "engine/cpu/fused/line.h"
#include "engine/cpu/projector.h"
#include "engine/cpu/thread_team.h"

namespace engine::cpu::fused {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kOfEachStage{250};

// The tasks that a search has in one pass of a group, and what one thread does of them here: it
// goes through some blocks of its own again and again, more than its caches hold where the search
// has so many for it.
struct Share {
  Share(size_t tasks_of_group, int threads)
      : tasks(tasks_of_group),
        busy(std::min(static_cast<size_t>(threads), tasks)),
        blocks(std::min<size_t>(tasks / busy, kMostBlocks)) {}

  static constexpr size_t kMostBlocks = 32;
  size_t tasks;
  size_t busy;  // threads that have one
  size_t blocks;
};

struct Shares {
  Shares(const Layout& layout, const MemoryPlan& plan)
      : transforms(static_cast<size_t>(plan.transforms)),
        template_blocks((layout.size + layout.lanes - 1) / layout.lanes),
        template_rows(transforms * template_blocks, plan.threads),
        columns(layout.column_blocks(), plan.threads),
        rows(layout.row_blocks(), plan.threads),
        rows_read(std::min(rows.blocks * transforms, Share::kMostBlocks)) {}

  // Floats, and values of each of the statistics.
  size_t template_floats(const Layout& layout) const {
    return (template_rows.busy + template_blocks - 1) / template_blocks * layout.template_floats();
  }
  size_t image_floats(const Layout& layout) const {
    return columns.busy * columns.blocks * layout.image_block();
  }
  size_t columns_floats(const Layout& layout) const {
    return layout.row_blocks() * columns.blocks * layout.tile();
  }
  size_t exchange_floats(const Layout& layout) const {
    return std::max(columns.busy * columns_floats(layout),
                    rows.busy * rows_read * layout.exchange_row_block());
  }
  size_t map_values(const Layout& layout) const {
    return rows.busy * rows.blocks * layout.map_block();
  }
  // The rows of a projection that lie in one block stand for all of them, and for both projections.
  static size_t box_floats(const Layout& layout) { return layout.size * layout.lanes; }

  size_t transforms;
  size_t template_blocks;  // of one transform's rows
  Share template_rows, columns, rows;
  size_t rows_read;  // blocks of a thread between columns and rows
};

// A part of the arrays of a search. A thread writes only what is its own.
class Sample {
 public:
  Sample(const Layout& layout, const MemoryPlan& plan)
      : layout_(layout),
        shares_(layout, plan),
        kernels_(choose_kernels()),
        columns_(static_cast<int>(layout.height)),
        rows_(static_cast<int>(layout.width)),
        template_rows_(shares_.template_floats(layout)),
        image_(shares_.image_floats(layout)),
        exchange_(shares_.exchange_floats(layout)),
        best_(shares_.map_values(layout)),
        index_(shares_.map_values(layout)),
        sum_(shares_.map_values(layout)),
        squares_(shares_.map_values(layout)) {
    for (int i = 0; i < plan.threads; ++i) {
      threads_.push_back({LargeArray<float>(layout.working_floats()),
                          LargeArray<int32_t>(2 * layout.map_block()),
                          LargeArray<float>(Shares::box_floats(layout))});
    }
  }

  const Shares& shares() const { return shares_; }

  void transform_template(size_t thread) {
    OfThread& own = threads_[thread];
    const size_t row = thread % shares_.template_blocks * layout_.lanes;
    kernels_.template_rows(
        rows_,
        {.first = {own.box.data(), false, 1, 0},
         .second = {own.box.data(), false, 1, 0},
         .size = layout_.size,
         .row = 0,
         .rows = std::min(layout_.lanes, layout_.size - row),
         .out = template_rows_.data() +
                thread / shares_.template_blocks * layout_.template_floats() +
                row * layout_.point(),
         .tiles = layout_.template_block(),
         .past_cache = Layout::past_cache(shares_.transforms * layout_.template_floats())},
        own.working.data());
  }

  void begin_columns(size_t thread) {
    const size_t floats = shares_.columns.blocks * layout_.image_block();
    std::fill_n(image_.data() + thread * floats, floats, 0.0f);
    for (size_t i = 0; i < shares_.columns.blocks; ++i) correlate_columns(thread, i);
  }
  void correlate_columns(size_t thread, size_t call) {
    const size_t blocks = shares_.columns.blocks;
    const size_t block = call % blocks;
    const auto rows_of = [&](size_t number) {
      return template_rows_.data() + number % layout_.column_blocks() * layout_.template_block();
    };
    kernels_.columns(
        columns_,
        {.rows = rows_of(thread * blocks + block),
         .next = rows_of(thread * blocks + (block + 1) % blocks),
         .count = layout_.size,
         .image = image_.data() + (thread * blocks + block) * layout_.image_block(),
         .out =
             exchange_.data() + thread * shares_.columns_floats(layout_) + block * layout_.tile(),
         .row_blocks = blocks * layout_.tile(),
         .wanted = layout_.valid_height,
         .past_cache = Layout::past_cache(shares_.transforms * layout_.exchange_floats())},
        threads_[thread].working.data());
  }

  // As it is when a search is on its way, hardly a correlation is larger than the largest.
  void begin_rows(size_t thread) {
    const size_t read = shares_.rows_read * layout_.exchange_row_block();
    std::fill_n(exchange_.data() + thread * read, read, 0.0f);
    const size_t values = shares_.rows.blocks * layout_.map_block();
    std::fill_n(best_.data() + thread * values, values, 1.0f);
    for (size_t i = 0; i < shares_.rows.blocks; ++i) add_rows(thread, i);
  }
  // Of a group: the sums of the search are added to once.
  void add_rows(size_t thread, size_t call) {
    OfThread& own = threads_[thread];
    const size_t block = thread * shares_.rows.blocks + call % shares_.rows.blocks;
    const size_t at = block * layout_.map_block();
    const Statistics statistics{&best_[at], &index_[at], &sum_[at], &squares_[at]};
    std::fill_n(own.sums.data(), 2 * layout_.map_block(), 0);
    const auto in_of = [&](size_t t) {
      const size_t from =
          thread * shares_.rows_read + (call * shares_.transforms + t) % shares_.rows_read;
      return exchange_.data() + from * layout_.exchange_row_block();
    };
    for (size_t t = 0; t < shares_.transforms; ++t) {
      kernels_.rows(rows_,
                    {.in = in_of(t),
                     .next = t + 1 < shares_.transforms ? in_of(t + 1) : nullptr,
                     .indices = {0, 1},
                     .wanted = layout_.valid_width,
                     .sums = own.sums.data(),
                     .statistics = statistics},
                    own.working.data());
    }
    kernels_.add_sums(own.sums.data(), statistics, layout_.valid_width);
  }

 private:
  struct OfThread {
    LargeArray<float> working;
    LargeArray<int32_t> sums;
    LargeArray<float> box;
  };

  const Layout& layout_;
  const Shares shares_;
  const Kernels& kernels_;
  const Line columns_, rows_;
  LargeArray<float> template_rows_, image_, exchange_, best_;
  LargeArray<int32_t> index_;
  LargeArray<int64_t> sum_, squares_;
  std::vector<OfThread> threads_;
};

// Seconds of one task of a pass, all threads at it at once that have one. `begin` takes the
// memory, which is not measured.
double seconds_of_task(ThreadTeam& team, const Share& share,
                       const std::function<void(size_t thread)>& begin,
                       const std::function<void(size_t thread, size_t call)>& work) {
  std::vector<double> rates(static_cast<size_t>(team.size()));
  std::barrier<> begun(static_cast<std::ptrdiff_t>(rates.size()));
  // One that waits takes no second iteration, so that each thread has one.
  team.run(rates.size(), [&](size_t, int number) {
    const auto thread = static_cast<size_t>(number);
    const bool is_busy = thread < share.busy;
    if (is_busy) begin(thread);
    begun.arrive_and_wait();
    if (!is_busy) return;
    size_t calls = 0;
    const auto start = Clock::now();
    auto now = start;
    do {
      work(thread, calls);
      ++calls;
      now = Clock::now();
    } while (now - start < kOfEachStage);
    rates[thread] = static_cast<double>(calls) / std::chrono::duration<double>(now - start).count();
  });
  return 1 / std::accumulate(rates.begin(), rates.end(), 0.0);
}

// Of the sample of projections: a smaller template stands for a large one, whose volume would take
// long to make.
int sample_size(const ProblemShape& shape) { return std::min(shape.template_size, 128); }
int sample_units(const MemoryPlan& plan) { return std::min(plan.batch, plan.threads); }
int sample_planes(const ProblemShape& shape) { return std::clamp(shape.planes, 1, 16); }

// Of the two projections of a transform, with their share of a slice.
double seconds_of_projections(const ProblemShape& shape, const MemoryPlan& plan, ThreadTeam& team) {
  const int n = sample_size(shape);
  const auto side = static_cast<size_t>(n);
  const size_t half = side * (side / 2 + 1);
  Problem problem;
  problem.height = problem.width = 2 * n;
  problem.template_size = n;
  problem.volume_spectrum.assign(half * side, 1.0f);
  problem.filters.assign(static_cast<size_t>(sample_planes(shape)),
                         std::vector<std::complex<float>>(half, 1.0f));
  problem.orientations = {{.phi = 20, .theta = 40, .psi = 60}};
  const std::vector<Unit> units(static_cast<size_t>(sample_units(plan)), Unit{0, 0});
  // As the template itself gets it.
  auto back_transform = factors_of(shape.template_size).empty()
                            ? make_plain_back_transform(n, team.size())
                            : make_back_transform(n, team.size());
  Projector projector(problem, sample_units(plan), team.size(), 1.0, std::move(back_transform));
  projector.project(units, team);
  int calls = 0;
  const auto start = Clock::now();
  auto now = start;
  do {
    projector.project(units, team);
    ++calls;
    now = Clock::now();
  } while (now - start < kOfEachStage);
  const double each = std::chrono::duration<double>(now - start).count() / calls /
                      static_cast<double>(units.size() * problem.filters.size());
  const double larger = static_cast<double>(shape.template_size) / n;
  return each * larger * larger;
}

uint64_t bytes_of_projections(const ProblemShape& shape, const MemoryPlan& plan) {
  const auto n = static_cast<uint64_t>(sample_size(shape));
  const uint64_t slice = n * (n / 2 + 1) * sizeof(Complex);
  const uint64_t box = n * n * sizeof(float);
  const auto planes = static_cast<uint64_t>(sample_planes(shape));
  return (n + planes) * slice + static_cast<uint64_t>(sample_units(plan)) * (slice + planes * box) +
         static_cast<uint64_t>(plan.threads) * (slice + box);
}

}  // namespace

double measure_rate(const ProblemShape& shape, const MemoryPlan& plan) {
  const Layout layout(shape);
  ThreadTeam team(plan.threads);
  const double projections = seconds_of_projections(shape, plan, team);
  Sample sample(layout, plan);
  const Shares& shares = sample.shares();
  const auto of_group = [&](const Share& share, const auto& begin, const auto& work) {
    return static_cast<double>(share.tasks) * seconds_of_task(team, share, begin, work);
  };
  const double template_rows = of_group(
      shares.template_rows, [&](size_t thread) { sample.transform_template(thread); },
      [&](size_t thread, size_t) { sample.transform_template(thread); });
  const double columns = of_group(
      shares.columns, [&](size_t thread) { sample.begin_columns(thread); },
      [&](size_t thread, size_t call) { sample.correlate_columns(thread, call); });
  const double rows = of_group(
      shares.rows, [&](size_t thread) { sample.begin_rows(thread); },
      [&](size_t thread, size_t call) { sample.add_rows(thread, call); });
  const auto transforms = static_cast<double>(shares.transforms);
  return 2 / (projections + (template_rows + rows) / transforms + columns);
}

uint64_t measuring_bytes(const ProblemShape& shape, const MemoryPlan& plan) {
  const Layout layout(shape);
  const Shares shares(layout, plan);
  const uint64_t floats = shares.template_floats(layout) + shares.image_floats(layout) +
                          shares.exchange_floats(layout) + shares.map_values(layout);
  const uint64_t of_thread =
      layout.working_floats() + 2 * layout.map_block() + Shares::box_floats(layout);
  const uint64_t sample =
      (floats + static_cast<uint64_t>(plan.threads) * of_thread) * sizeof(float) +
      shares.map_values(layout) * (sizeof(int32_t) + 2 * sizeof(int64_t));
  return std::max(sample, bytes_of_projections(shape, plan));
}

}  // namespace engine::cpu::fused
