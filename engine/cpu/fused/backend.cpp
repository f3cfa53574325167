#include "engine/cpu/fused/backend.h"

#include <algorithm>
#include <complex>
#include <limits>

#include "engine/backend/transforms.h"
#include "engine/cpu/fused/back_transform.h"
#include "engine/cpu/fused/image_spectrum.h"
#include "engine/cpu/fused/kernels.h"
#include "engine/cpu/fused/large_array.h"
#include "engine/cpu/fused/layout.h"
#include "engine/cpu/fused/line.h"
#include "engine/cpu/projector.h"
#include "engine/cpu/thread_team.h"

namespace engine::cpu::fused {
namespace {

ProblemShape shape_of(const Problem& p) {
  return {p.height, p.width, p.template_size, p.planes(),
          static_cast<int64_t>(p.orientations.size())};
}

struct Scratch {
  LargeArray<float> working;
  LargeArray<int32_t> sums;
};

// A transform carries first - i second.
ScaledProjection scaled(const Projected& p, double sign) {
  const double factor = sign * p.normalisation.factor;
  return {p.pixels, p.mirrored, static_cast<float>(factor),
          static_cast<float>(-p.normalisation.edge * factor)};
}

constexpr int32_t kNoIndex = std::numeric_limits<int32_t>::max();

class FusedBackend : public Backend {
 public:
  FusedBackend(const Problem& problem, const MemoryPlan& plan)
      : problem_(problem),
        kernels_(choose_kernels()),
        layout_(shape_of(problem)),
        batch_(static_cast<size_t>(plan.batch)),
        group_(static_cast<size_t>(plan.transforms)),
        team_(plan.threads),
        projector_(problem, plan.batch, plan.threads,
                   static_cast<double>(layout_.height) * static_cast<double>(layout_.width),
                   make_back_transform(problem.template_size, plan.threads)),
        columns_(static_cast<int>(layout_.height)),
        rows_(static_cast<int>(layout_.width)),
        image_(layout_.image_floats()),
        template_rows_(group_ * layout_.template_floats()),
        exchange_(group_ * layout_.exchange_floats()),
        best_(layout_.map_values()),
        index_(layout_.map_values()),
        sum_(layout_.map_values()),
        squares_(layout_.map_values()) {
    for (int i = 0; i < team_.size(); ++i) {
      scratch_.push_back({LargeArray<float>(layout_.working_floats()),
                          LargeArray<int32_t>(2 * layout_.map_block())});
    }
    pack_image();
    clear_maps();
  }

  std::string name() const override { return "cpu"; }
  std::string fft() const override { return "fused"; }

  void correlate(std::span<const Unit> units) override {
    for (size_t begin = 0; begin < units.size(); begin += batch_) {
      const auto batch = units.subspan(begin, std::min(batch_, units.size() - begin));
      projector_.project(batch, team_);
      list_transforms(batch, problem_.planes(), static_cast<int64_t>(problem_.orientations.size()),
                      transforms_);
      const size_t count = transforms_.size();
      const size_t groups = (count + group_ - 1) / group_;
      for (size_t g = 0; g < groups; ++g) {
        const size_t first = g * count / groups;
        const size_t next = (g + 1) * count / groups;
        const auto group = std::span(transforms_).subspan(first, next - first);
        transform_templates(group);
        correlate_columns(group.size());
        add_rows(group);
      }
    }
  }

  int batch() const override { return static_cast<int>(batch_); }

  // The memory between the passes makes room for what is returned.
  Accumulators accumulators() const override {
    exchange_.give_back();
    template_rows_.give_back();
    Accumulators out(problem_.valid_height(), problem_.valid_width());
    for_each_pixel([&](size_t here, size_t i) {
      if (index_[here] != kNoIndex) {
        out.best[i] = pack_best(best_[here], static_cast<uint32_t>(index_[here]));
      }
      out.sum[i] = sum_[here];
      out.squares[i] = squares_[here];
    });
    return out;
  }

  double best_z(int64_t correlations) const override {
    if (correlations < 2) return 0;
    std::vector<double> per_row(layout_.valid_height);
    for_each_pixel([&](size_t here, size_t i) {
      const Moments m = moments(sum_[here], squares_[here], correlations);
      double& best = per_row[i / layout_.valid_width];
      best = std::max(best, z_score(best_[here], m));
    });
    return *std::max_element(per_row.begin(), per_row.end());
  }

  void restore(const Accumulators& a) override {
    clear_maps();
    for_each_pixel([&](size_t here, size_t i) {
      if (a.best[i] != 0) {
        best_[here] = best_value(a.best[i]);
        index_[here] = static_cast<int32_t>(best_index(a.best[i]));
      }
      sum_[here] = a.sum[i];
      squares_[here] = a.squares[i];
    });
  }

 private:
  // Rows beyond the last one, too, which only fill the last block.
  void clear_maps() {
    team_.run(layout_.row_blocks(), [&](size_t block, int) {
      const size_t begin = block * layout_.map_block();
      const size_t end = begin + layout_.map_block();
      std::fill(&best_[begin], &best_[end], -std::numeric_limits<float>::infinity());
      std::fill(&index_[begin], &index_[end], kNoIndex);
      std::fill(&sum_[begin], &sum_[end], 0);
      std::fill(&squares_[begin], &squares_[end], 0);
    });
  }

  // take(index here, index in maps that lie row by row), on all threads, each row on one.
  template <typename Take>
  void for_each_pixel(const Take& take) const {
    team_.run(layout_.row_blocks(), [&](size_t block, int) {
      const size_t first = block * layout_.lanes;
      const size_t rows = std::min(layout_.lanes, layout_.valid_height - first);
      for (size_t lane = 0; lane < rows; ++lane) {
        for (size_t x = 0; x < layout_.valid_width; ++x) {
          take(block * layout_.map_block() + x * layout_.lanes + lane,
               (first + lane) * layout_.valid_width + x);
        }
      }
    });
  }

  void pack_image() {
    const ImageSpectrum spectrum(problem_, layout_.height, layout_.width);
    team_.run(layout_.column_blocks(), [&](size_t block, int) {
      float* out = image_.data() + block * layout_.image_block();
      for (size_t y = 0; y < layout_.height; ++y) {
        for (size_t lane = 0; lane < layout_.lanes; ++lane) {
          const auto value =
              spectrum.at(static_cast<size_t>(columns_.frequencies[y]),
                          static_cast<size_t>(rows_.frequencies[block * layout_.lanes + lane]));
          out[y * layout_.point() + lane] = value.real();
          out[y * layout_.point() + layout_.lanes + lane] = value.imag();
        }
      }
    });
  }

  void transform_templates(std::span<const Transform> group) {
    const size_t blocks = (layout_.size + layout_.lanes - 1) / layout_.lanes;
    const bool past_cache = Layout::past_cache(group.size() * layout_.template_floats());
    team_.run(group.size() * blocks, [&](size_t task, int thread) {
      const Transform& t = group[task / blocks];
      const size_t row = task % blocks * layout_.lanes;
      kernels_.template_rows(
          rows_,
          {.first = scaled(projector_.first_of(t), 1),
           .second = scaled(projector_.second_of(t), -1),
           .size = layout_.size,
           .row = row,
           .rows = std::min(layout_.lanes, layout_.size - row),
           .out = template_rows_.data() + task / blocks * layout_.template_floats() +
                  row * layout_.point(),
           .tiles = layout_.template_block(),
           .past_cache = past_cache},
          working_of(thread));
    });
  }

  void correlate_columns(size_t transforms) {
    const bool past_cache = Layout::past_cache(transforms * layout_.exchange_floats());
    team_.run(layout_.column_blocks(), [&](size_t block, int thread) {
      const float* rows = template_rows_.data() + block * layout_.template_block();
      for (size_t t = 0; t < transforms; ++t) {
        const float* now = rows + t * layout_.template_floats();
        kernels_.columns(
            columns_,
            {.rows = now,
             .next = t + 1 < transforms ? now + layout_.template_floats() : nullptr,
             .count = layout_.size,
             .image = image_.data() + block * layout_.image_block(),
             .out = exchange_.data() + t * layout_.exchange_floats() + block * layout_.tile(),
             .row_blocks = layout_.exchange_row_block(),
             .wanted = layout_.valid_height,
             .past_cache = past_cache},
            working_of(thread));
      }
    });
  }

  void add_rows(std::span<const Transform> group) {
    team_.run(layout_.row_blocks(), [&](size_t block, int thread) {
      int32_t* sums = scratch_[static_cast<size_t>(thread)].sums.data();
      std::fill_n(sums, 2 * layout_.map_block(), 0);
      const Statistics statistics = statistics_of(block);
      const float* in = exchange_.data() + block * layout_.exchange_row_block();
      for (size_t t = 0; t < group.size(); ++t) {
        const float* now = in + t * layout_.exchange_floats();
        check(
            kernels_.rows(rows_,
                          {.in = now,
                           .next = t + 1 < group.size() ? now + layout_.exchange_floats() : nullptr,
                           .indices = {group[t].first, group[t].second},
                           .wanted = layout_.valid_width,
                           .sums = sums,
                           .statistics = statistics},
                          working_of(thread)),
            block);
      }
      check(kernels_.add_sums(sums, statistics, layout_.valid_width), block);
    });
  }

  void check(const OutOfRange& found, size_t block) const {
    if (found.column < 0) return;
    refuse_sums(static_cast<int64_t>(block * layout_.lanes) + found.lane, found.column,
                problem_.extreme_pixel);
  }

  Statistics statistics_of(size_t block) {
    const size_t at = block * layout_.map_block();
    return {&best_[at], &index_[at], &sum_[at], &squares_[at]};
  }
  float* working_of(int thread) { return scratch_[static_cast<size_t>(thread)].working.data(); }

  const Problem& problem_;
  const Kernels& kernels_;
  const Layout layout_;
  const size_t batch_;  // units
  const size_t group_;  // transforms between the passes
  mutable ThreadTeam team_;
  Projector projector_;
  const Line columns_, rows_;
  std::vector<Transform> transforms_;  // of a batch
  std::vector<Scratch> scratch_;
  LargeArray<float> image_;
  // The last block of rows may have lanes without a row. They are never written, so that what is
  // transformed in them is zeros, as it was at first.
  mutable LargeArray<float> template_rows_, exchange_;
  // Statistics.
  LargeArray<float> best_;
  LargeArray<int32_t> index_;
  LargeArray<int64_t> sum_, squares_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const Problem& problem, const MemoryPlan& plan) {
  return std::make_unique<FusedBackend>(problem, plan);
}

}  // namespace engine::cpu::fused
