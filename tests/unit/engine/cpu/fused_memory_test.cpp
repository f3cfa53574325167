// Which memory the passes of the fused path touch: arrays that end where a page begins that must
// not be touched, since the address sanitizer does not see into mapped memory; and no pass reads
// what was not written.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <random>
#include <string>

#include "engine/cpu/fused/kernels.h"
#include "engine/cpu/fused/large_array.h"
#include "engine/cpu/fused/layout.h"
#include "engine/cpu/fused/line.h"
#include "tests/unit/engine/cpu/instruction_sets.h"

namespace engine::cpu::fused {
namespace {

// Ends at a page that cannot be read or written.
template <typename T>
class Guarded {
 public:
  Guarded(size_t count, T value) : count_(count) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t pages = (count * sizeof(T) + page - 1) / page;
    mapped_ = (pages + 1) * page;
    void* memory =
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<char*>(memory);
    ::mprotect(begin_ + pages * page, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(begin_ + pages * page) - count;
    std::fill_n(data_, count, value);
  }
  ~Guarded() { ::munmap(begin_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  size_t size() const { return count_; }

 private:
  size_t count_, mapped_ = 0;
  char* begin_ = nullptr;
  T* data_ = nullptr;
};

constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

void fill_with_noise(Guarded<float>& values) {
  std::mt19937 random(1);
  std::normal_distribution<float> gaussian(0, 0.01f);
  for (size_t i = 0; i < values.size(); ++i) values[i] = gaussian(random);
}

// One transform through all passes, each with the least working memory that it asks for.
class OneTransform {
 public:
  OneTransform(const ProblemShape& shape, bool past_cache)
      : layout_(shape),
        past_cache_(past_cache),
        columns_(static_cast<int>(layout_.height)),
        rows_(static_cast<int>(layout_.width)),
        projections_(2 * layout_.size * layout_.size, 0),
        template_rows_(layout_.template_floats(), kPoison),
        image_(layout_.image_floats(), 0),
        // The lanes of the last block of rows that have no row are not written.
        exchange_(layout_.exchange_floats(), 0),
        best_(layout_.map_values(), -std::numeric_limits<float>::infinity()),
        index_(layout_.map_values(), std::numeric_limits<int32_t>::max()),
        sum_(layout_.map_values(), 0),
        squares_(layout_.map_values(), 0) {
    fill_with_noise(projections_);
    fill_with_noise(image_);
  }

  void run() {
    const size_t lanes = layout_.lanes;
    const size_t for_template = (rows_.working() + layout_.size) * layout_.point();
    const size_t for_columns = columns_.working() * layout_.point();
    const size_t for_rows = (rows_.working() + rows_.parts * lanes) * layout_.point();
    EXPECT_LE(std::max({for_template, for_columns, for_rows}), layout_.working_floats());
    transform_template(Guarded<float>(for_template, kPoison).data());
    correlate_columns(Guarded<float>(for_columns, kPoison).data());
    add_rows(Guarded<float>(for_rows, kPoison).data());
  }

  void expect_numbers() {
    for (size_t i = 0; i < best_.size(); ++i) {
      ASSERT_TRUE(std::isfinite(best_[i])) << "at " << i;
      ASSERT_EQ(index_[i] / 2, 3) << "at " << i;
    }
  }

 private:
  void transform_template(float* working) {
    const size_t n = layout_.size;
    for (size_t row = 0; row < n; row += layout_.lanes) {
      choose_kernels().template_rows(rows_,
                                     {.first = {projections_.data(), false, 1, 0},
                                      .second = {projections_.data() + n * n, true, -1, 0.5},
                                      .size = n,
                                      .row = row,
                                      .rows = std::min(layout_.lanes, n - row),
                                      .out = template_rows_.data() + row * layout_.point(),
                                      .tiles = layout_.template_block(),
                                      .past_cache = past_cache_},
                                     working);
    }
  }
  void correlate_columns(float* working) {
    for (size_t block = 0; block < layout_.column_blocks(); ++block) {
      const float* rows = template_rows_.data() + block * layout_.template_block();
      const bool is_last = block + 1 == layout_.column_blocks();
      choose_kernels().columns(columns_,
                               {.rows = rows,
                                .next = is_last ? nullptr : rows + layout_.template_block(),
                                .count = layout_.size,
                                .image = image_.data() + block * layout_.image_block(),
                                .out = exchange_.data() + block * layout_.tile(),
                                .row_blocks = layout_.exchange_row_block(),
                                .wanted = layout_.valid_height,
                                .past_cache = past_cache_},
                               working);
    }
  }
  void add_rows(float* working) {
    for (size_t block = 0; block < layout_.row_blocks(); ++block) {
      const size_t at = block * layout_.map_block();
      const Statistics statistics{&best_[at], &index_[at], &sum_[at], &squares_[at]};
      Guarded<int32_t> sums(2 * layout_.map_block(), 0);
      const float* in = exchange_.data() + block * layout_.exchange_row_block();
      const bool is_last = block + 1 == layout_.row_blocks();
      const OutOfRange found =
          choose_kernels().rows(rows_,
                                {.in = in,
                                 .next = is_last ? nullptr : in + layout_.exchange_row_block(),
                                 .indices = {6, 7},
                                 .wanted = layout_.valid_width,
                                 .sums = sums.data(),
                                 .statistics = statistics},
                                working);
      EXPECT_EQ(found.column, -1);
      EXPECT_EQ(choose_kernels().add_sums(sums.data(), statistics, layout_.valid_width).column, -1);
    }
  }

  const Layout layout_;
  const bool past_cache_;
  const Line columns_, rows_;
  Guarded<float> projections_, template_rows_, image_, exchange_, best_;
  Guarded<int32_t> index_;
  Guarded<int64_t> sum_, squares_;
};

TEST(FusedMemory, NoPassTouchesMoreThanItAsksFor) {
  for (const ProblemShape& shape :
       {ProblemShape{64, 64, 16}, ProblemShape{72, 90, 16}, ProblemShape{48, 80, 20},
        ProblemShape{18, 16, 16}, ProblemShape{20, 34, 4}, ProblemShape{162, 1024, 30},
        ProblemShape{1024, 130, 128}, ProblemShape{2, 2, 2}, ProblemShape{336, 256, 250}}) {
    SCOPED_TRACE(std::to_string(shape.height) + " x " + std::to_string(shape.width) + ", " +
                 std::to_string(shape.template_size));
    on_every_instruction_set([&] {
      for (const bool past_cache : {false, true}) {
        OneTransform transform(shape, past_cache);
        transform.run();
        transform.expect_numbers();
      }
    });
  }
}

TEST(FusedMemory, ALargeArrayBeginsAsZerosAndIsZerosAgainWhenGivenBack) {
  constexpr size_t kCount = (size_t{5} << 20) + 3;
  LargeArray<int32_t> values(kCount);
  const auto all_zero = [&] {
    return std::all_of(values.data(), values.data() + kCount, [](int32_t v) { return v == 0; });
  };
  EXPECT_TRUE(all_zero());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values.data()) % 64, 0u);
  std::fill_n(values.data(), kCount, 7);
  values.give_back();
  EXPECT_TRUE(all_zero());
  values[kCount - 1] = 1;
  EXPECT_FALSE(all_zero());
  LargeArray<float> none(0);
  none.give_back();
  EXPECT_EQ(none.data(), nullptr);
}

// Sides of parts of blocks and of an odd number of blocks, too.
TEST(FusedMemory, ProjectionsTouchWhatIsTheirs) {
  for (const int size : {2, 4, 10, 16, 20, 24, 64, 90}) {
    SCOPED_TRACE(size);
    on_every_instruction_set([&] {
      const Line line(size);
      const size_t n = line.length;
      const size_t lanes = choose_kernels().lanes;
      Guarded<float> slice(2 * n * (n / 2 + 1), 0);
      Guarded<float> filter(slice.size(), 0);
      fill_with_noise(slice);
      fill_with_noise(filter);
      Guarded<size_t> points(n, 0);
      for (size_t position = 0; position < n; ++position) {
        points[static_cast<size_t>(line.frequencies[position])] = position + position / line.part;
      }
      Guarded<float> working((line.working() + n) * 2 * lanes, kPoison);
      Guarded<float> between(projection_floats(n, lanes), kPoison);
      Guarded<float> out(n * n, kPoison);
      Guarded<float> squares((n + lanes - 1) / lanes * lanes, kPoison);
      choose_kernels().projection(line,
                                  {.slice = slice.data(),
                                   .filter = filter.data(),
                                   .size = n,
                                   .points = points.data(),
                                   .between = between.data(),
                                   .out = out.data(),
                                   .squares = squares.data()},
                                  working.data());
      for (size_t i = 0; i < out.size(); ++i) ASSERT_TRUE(std::isfinite(out[i])) << "at " << i;
      for (size_t i = 0; i < n; ++i) ASSERT_TRUE(std::isfinite(squares[i])) << "of row " << i;
    });
  }
}

}  // namespace
}  // namespace engine::cpu::fused
