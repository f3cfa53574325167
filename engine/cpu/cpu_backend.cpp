#include "engine/cpu/cpu_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backend/transforms.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/layout.h"
#include "engine/cpu/projector.h"
#include "engine/cpu/thread_team.h"
#include "engine/error.h"
#include "engine/numerics/fft_plan.h"

namespace engine::cpu {
namespace {

struct Scratch {
  std::vector<float> first, second;  // a row of each projection
  AlignedArray<Complex> row_in;      // width
  AlignedArray<Complex> row_out;     // width, kBlock of them
  AlignedArray<Complex> column_in;   // height, zero beyond the template
  AlignedArray<Complex> column_mid;  // height
  AlignedArray<Complex> column_out;  // height + pad, kBlock of them

  Scratch(const Problem& p)
      : first(static_cast<size_t>(p.template_size)),
        second(first.size()),
        row_in(padded(p.width)),
        row_out(padded(p.width) * kBlock),
        column_in(padded(p.height)),
        column_mid(padded(p.height)),
        column_out((padded(p.height) + kPad) * kBlock) {}
};

class CpuBackend : public Backend {
 public:
  CpuBackend(const Problem& problem, const MemoryPlan& plan)
      : problem_(problem),
        n_(problem.template_size),
        height_(problem.height),
        width_(problem.width),
        valid_height_(problem.valid_height()),
        valid_width_(problem.valid_width()),
        batch_(plan.batch),
        group_(static_cast<size_t>(plan.transforms)),
        team_(plan.threads),
        // The transforms are not normalised: 1/pixels is applied once per projection.
        projector_(problem, batch_, plan.threads, static_cast<double>(height_) * width_,
                   make_plain_back_transform(n_, plan.threads)),
        row_forward_(width_, Direction::kForward),
        row_inverse_(width_, Direction::kInverse),
        column_forward_(height_, Direction::kForward),
        column_inverse_(height_, Direction::kInverse),
        spectrum_(static_cast<size_t>(width_) * padded(height_)),
        template_rows_(group_ * static_cast<size_t>(width_) * padded(n_)),
        exchange_(group_ * static_cast<size_t>(valid_height_) * padded(width_)) {
    for (int i = 0; i < team_.size(); ++i) scratch_.emplace_back(problem);
    const size_t pixels = static_cast<size_t>(valid_height_) * static_cast<size_t>(valid_width_);
    best_.resize(pixels);
    index_.resize(pixels);
    clear_maxima();
    sum_.assign(pixels, 0);
    squares_.assign(pixels, 0);
    transpose_spectrum();
  }

  std::string name() const override { return "cpu"; }
  std::string fft() const override { return "fftw"; }
  void correlate(std::span<const Unit> units) override {
    for (size_t begin = 0; begin < units.size(); begin += static_cast<size_t>(batch_)) {
      const auto batch =
          units.subspan(begin, std::min(static_cast<size_t>(batch_), units.size() - begin));
      projector_.project(batch, team_);
      const std::vector<Transform> transforms = list_transforms(
          batch, problem_.planes(), static_cast<int64_t>(problem_.orientations.size()));
      const std::span<const Transform> all(transforms);
      for (size_t t = 0; t < all.size(); t += group_) {
        const auto group = all.subspan(t, std::min(group_, all.size() - t));
        forward_rows(group);
        columns(group.size());
        inverse_rows(group);
      }
    }
  }

  int batch() const override { return batch_; }
  Accumulators accumulators() const override {
    Accumulators out(valid_height_, valid_width_);
    for (size_t i = 0; i < best_.size(); ++i) {
      if (index_[i] != std::numeric_limits<int32_t>::max()) {
        out.best[i] = pack_best(best_[i], static_cast<uint32_t>(index_[i]));
      }
    }
    out.sum = sum_;
    out.squares = squares_;
    return out;
  }

  double best_z(int64_t correlations) const override {
    if (correlations < 2) return 0;
    std::vector<double> per_row(static_cast<size_t>(valid_height_));
    team_.run(per_row.size(), [&](size_t row, int) {
      const auto columns = static_cast<size_t>(valid_width_);
      for (size_t i = row * columns; i < (row + 1) * columns; ++i) {
        const Moments m = moments(sum_[i], squares_[i], correlations);
        per_row[row] = std::max(per_row[row], z_score(best_[i], m));
      }
    });
    return *std::max_element(per_row.begin(), per_row.end());
  }

  void restore(const Accumulators& a) override {
    clear_maxima();
    for (size_t i = 0; i < best_.size(); ++i) {
      if (a.best[i] == 0) continue;
      best_[i] = best_value(a.best[i]);
      index_[i] = static_cast<int32_t>(best_index(a.best[i]));
    }
    sum_ = a.sum;
    squares_ = a.squares;
  }

 private:
  void clear_maxima() {
    std::fill(best_.begin(), best_.end(), -std::numeric_limits<float>::infinity());
    std::fill(index_.begin(), index_.end(), std::numeric_limits<int32_t>::max());
  }

  void transpose_spectrum() {
    const size_t columns = static_cast<size_t>(width_) / 2 + 1;
    const size_t stride = padded(height_);
    const auto& half = problem_.image_spectrum;
    team_.run(static_cast<size_t>(width_), [&](size_t x, int) {
      Complex* out = spectrum_.data() + x * stride;
      for (int y = 0; y < height_; ++y) {
        const auto row = static_cast<size_t>(y);
        const auto mirrored = static_cast<size_t>((height_ - y) % height_);
        out[y] = x < columns
                     ? half[row * columns + x]
                     : std::conj(half[mirrored * columns + static_cast<size_t>(width_) - x]);
      }
    });
  }

  void forward_rows(std::span<const Transform> group) {
    const size_t row_blocks = blocks(n_);
    team_.run(group.size() * row_blocks, [&](size_t i, int thread) {
      forward_row_block(group[i / row_blocks], i / row_blocks,
                        static_cast<int>(i % row_blocks) * kBlock,
                        scratch_[static_cast<size_t>(thread)]);
    });
  }

  void columns(size_t transforms) {
    team_.run(blocks(width_), [&](size_t block, int thread) {
      for (size_t t = 0; t < transforms; ++t) {
        column_block(t, static_cast<int>(block) * kBlock, scratch_[static_cast<size_t>(thread)]);
      }
    });
  }

  void inverse_rows(std::span<const Transform> group) {
    constexpr int kRows = 4;
    const auto tasks = static_cast<size_t>((valid_height_ + kRows - 1) / kRows);
    team_.run(tasks, [&](size_t task, int thread) {
      const int begin = static_cast<int>(task) * kRows;
      for (int row = begin; row < std::min(begin + kRows, valid_height_); ++row) {
        for (size_t t = 0; t < group.size(); ++t) {
          inverse_row(group[t], t, row, scratch_[static_cast<size_t>(thread)]);
        }
      }
    });
  }

  void forward_row_block(const Transform& t, size_t in_group, int first_row, Scratch& s) {
    const int rows = std::min(kBlock, n_ - first_row);
    const size_t stride = padded(width_);
    const auto n = static_cast<size_t>(n_);
    const Projected first = projector_.first_of(t), second = projector_.second_of(t);
    for (int r = 0; r < rows; ++r) {
      write_normalised_row(first, n_, first_row + r, s.first.data());
      write_normalised_row(second, n_, first_row + r, s.second.data());
      for (size_t x = 0; x < n; ++x) s.row_in[x] = {s.first[x], -s.second[x]};
      row_forward_.execute(s.row_in.data(), s.row_out.data() + static_cast<size_t>(r) * stride);
    }
    Complex* out = template_rows_.data() + in_group * static_cast<size_t>(width_) * padded(n_) +
                   static_cast<size_t>(first_row);
    transpose(s.row_out.data(), stride, static_cast<size_t>(rows), static_cast<size_t>(width_), out,
              padded(n_));
  }

  void column_block(size_t in_group, int first_column, Scratch& s) {
    const int count = std::min(kBlock, width_ - first_column);
    const size_t template_stride = padded(n_);
    const size_t stride = padded(height_) + kPad;
    const Complex* in = template_rows_.data() + (in_group * static_cast<size_t>(width_) +
                                                 static_cast<size_t>(first_column)) *
                                                    template_stride;
    for (int c = 0; c < count; ++c) {
      const auto column = static_cast<size_t>(c);
      std::copy_n(in + column * template_stride, n_, s.column_in.data());
      column_forward_.execute(s.column_in.data(), s.column_mid.data());
      const Complex* image =
          spectrum_.data() + (static_cast<size_t>(first_column) + column) * padded(height_);
      multiply_conjugate(s.column_mid.data(), image, s.column_mid.data(),
                         static_cast<size_t>(height_));
      column_inverse_.execute(s.column_mid.data(), s.column_out.data() + column * stride);
    }
    Complex* out = exchange_.data() +
                   in_group * static_cast<size_t>(valid_height_) * padded(width_) +
                   static_cast<size_t>(first_column);
    transpose(s.column_out.data(), stride, static_cast<size_t>(count),
              static_cast<size_t>(valid_height_), out, padded(width_));
  }

  void inverse_row(const Transform& t, size_t in_group, int row, Scratch& s) {
    const Complex* in =
        exchange_.data() +
        (in_group * static_cast<size_t>(valid_height_) + static_cast<size_t>(row)) * padded(width_);
    row_inverse_.execute(in, s.row_out.data());
    const auto count = static_cast<size_t>(valid_width_);
    if (!accumulate(s.row_out.data(), count, t.first, t.second, statistics_row(row))) {
      fail_out_of_range(row);
    }
  }

  [[noreturn]] void fail_out_of_range(int row) const {
    const size_t begin = static_cast<size_t>(row) * static_cast<size_t>(valid_width_);
    const auto first = squares_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto worst = std::max_element(first, first + valid_width_, [](int64_t a, int64_t b) {
      return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
    });
    refuse_sums(row, worst - first, problem_.extreme_pixel);
  }

  StatisticsRow statistics_row(int row) {
    const size_t at = static_cast<size_t>(row) * static_cast<size_t>(valid_width_);
    return {best_.data() + at, index_.data() + at, sum_.data() + at, squares_.data() + at};
  }

  const Problem& problem_;
  const int n_, height_, width_, valid_height_, valid_width_;
  int batch_;
  size_t group_;
  mutable ThreadTeam team_;
  Projector projector_;
  LinePlan row_forward_, row_inverse_, column_forward_, column_inverse_;
  std::vector<Scratch> scratch_;
  AlignedArray<Complex> spectrum_;       // [column][row], full plane
  AlignedArray<Complex> template_rows_;  // per transform, [column][template row]
  AlignedArray<Complex> exchange_;       // per transform, [valid row][column]
  // Statistics, [valid row][valid column].
  std::vector<float> best_;
  std::vector<int32_t> index_;
  std::vector<int64_t> sum_, squares_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const Problem& problem, const MemoryPlan& plan) {
  return std::make_unique<CpuBackend>(problem, plan);
}

}  // namespace engine::cpu
