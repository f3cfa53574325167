// Correlates projections with the image by our own transforms, fused with the steps between them:
// the only array of the image's size that is written is the one between columns and rows. The
// template must fit one of the compiled lengths. It has the same functions as PlaneCorrelator.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/cuda/device_concept.h"
#include "engine/cuda/fused/columns_in_two.cuh"
#include "engine/cuda/fused/fft_roots.cuh"
#include "engine/cuda/fused/half_gain.h"
#include "engine/cuda/fused/kernels.cuh"
#include "engine/cuda/fused/tile_spectra.h"
#include "engine/cuda/fused_plan.h"

namespace engine::cuda {

// A list of transform lengths, in points. A build compiles kernels for CompiledLengths.
template <int... kValues>
struct LengthList {
  static constexpr std::array<int, sizeof...(kValues)> kLengths = {kValues...};

  // Calls use(std::integral_constant<int, length>); `length` must be in the list.
  template <typename Use>
  static void with(int length, const Use& use) {
    static_cast<void>(
        ((length == kValues && (use(std::integral_constant<int, kValues>{}), true)) || ...));
  }
};
using FusedLengths = LengthList<512, 1024, 1536, 2304, 4096>;

inline std::vector<int> stored_frequencies(int length, auto lengths) {
  std::vector<int> out;
  decltype(lengths)::with(length, [&](auto known) {
    for (int i = 0; i < length; ++i) out.push_back(FftOrder<known>::stored_frequency(i));
  });
  return out;
}

inline int step_of_columns(int length, ColumnKernel kernel, auto lengths) {
  int step = 0;
  decltype(lengths)::with(length, [&](auto known) { step = column_step<known>(kernel); });
  return step;
}

// Returns the frequency of every row of a stored tile.
inline std::vector<int> frequencies_of_rows(int length, ColumnKernel kernel, auto lengths) {
  if (kernel == ColumnKernel::kInThree) return stored_frequencies(length, lengths);
  std::vector<int> natural(static_cast<size_t>(length));
  std::iota(natural.begin(), natural.end(), 0);
  return natural;
}

// Returns the factor by which correlations in this storage are too large; 1 in single precision.
template <typename Storage>
double gain_of_storage(const FusedShape& shape, ColumnKernel kernel, auto lengths) {
  double gain = 1;
  if constexpr (Storage::kLanes > 1) {
    decltype(lengths)::with(shape.rows, [&](auto rows) {
      decltype(lengths)::with(shape.columns, [&](auto columns) {
        gain = gain_of_correlation<rows, columns>(shape.n, kernel);
      });
    });
  }
  return gain;
}

template <typename Root>
std::vector<Root> roots_of_length(int length, auto lengths) {
  std::vector<Root> roots;
  decltype(lengths)::with(length, [&](auto known) { roots = make_roots<known, Root>(); });
  return roots;
}

template <typename Root>
std::vector<Root> roots_of_columns(int length, ColumnKernel kernel, auto lengths) {
  if (kernel == ColumnKernel::kInThree) return roots_of_length<Root>(length, lengths);
  std::vector<Root> roots;
  decltype(lengths)::with(length, [&](auto known) {
    if constexpr (radix_in_two(known) > 0) roots = make_roots_in_two<known, Root>();
  });
  return roots;
}

template <typename Device, typename Storage, typename Lengths = FusedLengths>
class FusedCorrelator {
 public:
  // `device` must outlive the correlator, and `plan` must come from plan_fused_memory(). `most` is
  // the largest number of transforms in one call of add().
  FusedCorrelator(Device& device, const Problem& problem, const MemoryPlan& plan, size_t most)
      : FusedCorrelator(device, problem, most, plan.fused.value()) {}
  FusedCorrelator(Device& device, const Problem& problem, size_t most, FusedPlan plan)
      : device_(device),
        plan_(std::move(plan)),
        shape_(shape_of(problem.template_size, plan_)),
        valid_width_(problem.valid_width()),
        row_roots_(
            on_device("the roots of the rows", roots_of_length<Root>(shape_.columns, Lengths{}))),
        column_roots_(on_device("the roots of the columns",
                                roots_of_columns<Root>(shape_.rows, plan_.columns, Lengths{}))),
        places_(device, "the tiles' places", static_cast<size_t>(shape_.tiles)),
        spectra_(device, "the tiles' spectra",
                 static_cast<size_t>(shape_.tiles) * shape_.spectrum_size<Storage>()),
        template_rows_(device, "the template rows",
                       static_cast<size_t>(shape_.transforms) * shape_.template_size<Storage>()),
        exchange_(device, "the correlations on their way",
                  static_cast<size_t>(shape_.tiles) * shape_.exchange_tile<Storage>()),
        list_(device, "the list of transforms", most),
        arrays_{template_rows_.data(), spectra_.data(), exchange_.data(), row_roots_.data(),
                column_roots_.data()} {
    const std::vector<TilePlace> places = plan_.tiling.places();
    device_.upload(places_, places.data(), places.size());
    upload_spectra(problem);
  }

  // Adds the correlations of the transforms to `statistics`.
  void add(const Projections& projections, std::span<const Transform> transforms,
           const Statistics& statistics) {
    device_.upload(list_, transforms.data(), transforms.size());
    const auto in_pass = static_cast<size_t>(shape_.transforms);
    for (size_t first = 0; first < transforms.size(); first += in_pass) {
      const auto count = static_cast<int>(std::min(in_pass, transforms.size() - first));
      const Transform* list = list_.data() + first;
      transform_rows(projections, list, count);
      correlate_all_columns(count);
      finish(list, count, statistics);
    }
  }

 private:
  using Element = typename Storage::Element;
  using Root = typename Storage::Root;
  template <typename T>
  using Buffer = typename Device::template Buffer<T>;

  static FusedShape shape_of(int n, const FusedPlan& plan) {
    if (plan.columns == ColumnKernel::kInTwo && radix_in_two(plan.tiling.rows.length) == 0) {
      throw std::logic_error("no kernel in two stages for this length");
    }
    return {.n = n,
            .columns = plan.tiling.columns.length,
            .rows = plan.tiling.rows.length,
            .tiles = static_cast<int>(plan.tiling.places().size()),
            .valid_rows = plan.tiling.rows.largest_part(),
            .transforms = plan.transforms,
            .lane_step = step_of_columns(plan.tiling.rows.length, plan.columns, Lengths{})};
  }

  unsigned row_blocks(int rows) const {
    constexpr int kLines = Storage::kLines;
    return static_cast<unsigned>((shape_.lines<Storage>(rows) + kLines - 1) / kLines);
  }

  // Calls use(length, kInputs), where kInputs of the first radix's points hold the n first points
  // of a line: a quarter, a half or all of them.
  template <typename Use>
  static void with_inputs(int length, int n, const Use& use) {
    Lengths::with(length, [&](auto known) {
      constexpr int kFirst = FftOrder<known>::radix(0);
      if (4 * n <= length) {
        use(known, std::integral_constant<int, kFirst / 4>{});
      } else if (2 * n <= length) {
        use(known, std::integral_constant<int, kFirst / 2>{});
      } else {
        use(known, std::integral_constant<int, kFirst>{});
      }
    });
  }
  // Calls use(length, kKept), where kKept of a thread's points hold the first `columns` points of a
  // row: points_usually_kept(), or all of them.
  template <typename Use>
  static void with_kept(int length, int columns, const Use& use) {
    Lengths::with(length, [&](auto known) {
      constexpr int kFirst = FftOrder<known>::radix(0);
      constexpr int kFew = points_usually_kept(kFirst);
      const int step = FftOrder<known>::stride(0);
      if (columns <= kFew * step) {
        use(known, std::integral_constant<int, kFew>{});
      } else {
        use(known, std::integral_constant<int, kFirst>{});
      }
    });
  }

  template <typename T>
  Buffer<T> on_device(const char* what, const std::vector<T>& values) {
    Buffer<T> buffer(device_, what, values.size());
    device_.upload(buffer, values.data(), values.size());
    return buffer;
  }

  void upload_spectra(const Problem& problem) {
    const TileSpectra spectra(problem, plan_.tiling,
                              {.rows = frequencies_of_rows(shape_.rows, plan_.columns, Lengths{}),
                               .columns = stored_frequencies(shape_.columns, Lengths{}),
                               .columns_in_chunk = Storage::kColumns,
                               .gain = gain_of_storage<Storage>(shape_, plan_.columns, Lengths{})});
    template_scale_ = static_cast<float>(spectra.template_scale());
    const auto count = static_cast<int>(shape_.spectrum_size<Storage>());
    Buffer<float2> staging(device_, "a tile's spectrum",
                           shape_.spectrum_size<Storage>() * Storage::kLanes);
    Element* out = spectra_.data();
    for (const TilePlace& place : plan_.tiling.places()) {
      const std::vector<std::complex<float>> values = spectra.spectrum(place);
      device_.upload(staging, reinterpret_cast<const float2*>(values.data()), values.size());
      device_.launch("store_values", store_values<Storage>, dim3(blocks_for(count)),
                     dim3(threads_for(count)), 0, staging.data(), count, out);
      out += count;
    }
  }

  void transform_rows(const Projections& projections, const Transform* transforms, int count) {
    with_inputs(shape_.columns, shape_.n, [&](auto length, auto inputs) {
      const unsigned blocks = row_blocks(shape_.n);
      device_.launch("transform_template_rows", transform_template_rows<length, inputs, Storage>,
                     dim3(blocks, static_cast<unsigned>(count)),
                     dim3(RowFft<length, Storage>::kThreads),
                     template_rows_shared<length, Storage>(), shape_, projections, transforms,
                     template_scale_, arrays_);
    });
  }

  void correlate_all_columns(int count) {
    Lengths::with(shape_.rows, [&](auto length) {
      if constexpr (radix_in_two(length) > 0) {
        if (plan_.columns == ColumnKernel::kInTwo) {
          using Layout = InTwo<length, Storage>;
          with_points_of_column<length, Layout::kRadix>([&](auto inputs, auto kept) {
            launch_columns("correlate_columns_in_two",
                           correlate_columns_in_two<length, inputs, kept, Storage>,
                           Layout::kThreads, Layout::kSharedBytes, count);
          });
          return;
        }
      }
      with_points_of_column<length, FftOrder<length>::radix(0)>([&](auto inputs, auto kept) {
        launch_columns("correlate_columns", correlate_columns<length, inputs, kept, Storage>,
                       ColumnFft<length, Storage>::kThreads, columns_shared<length, Storage>(),
                       count);
      });
    });
  }
  // Calls use(kInputs, kKept): how many of a thread's kRadix points hold the template, and how many
  // hold valid rows.
  template <int kLength, int kRadix, typename Use>
  void with_points_of_column(const Use& use) const {
    constexpr int kFew = points_usually_kept(kRadix);
    static_assert(4 * kFew >= 3 * kRadix, "a template longer than a quarter leaves no more");
    if (2 * shape_.n > kLength) {
      use(std::integral_constant<int, kRadix>{}, std::integral_constant<int, kFew>{});
    } else if (4 * shape_.n > kLength) {
      use(std::integral_constant<int, kRadix / 2>{}, std::integral_constant<int, kFew>{});
    } else if (shape_.valid_rows <= kFew * (kLength / kRadix)) {
      use(std::integral_constant<int, kRadix / 4>{}, std::integral_constant<int, kFew>{});
    } else {
      use(std::integral_constant<int, kRadix / 4>{}, std::integral_constant<int, kRadix>{});
    }
  }
  void launch_columns(const char* name, void (*kernel)(FusedShape, bool, FusedArrays<Storage>),
                      int threads, size_t shared_bytes, int count) {
    const auto chunks = static_cast<unsigned>(shape_.columns / Storage::kColumns);
    const auto transforms = static_cast<unsigned>(count);
    const bool chunks_first = plan_.grid == ColumnGrid::kChunksFirst;
    device_.launch(name, kernel, chunks_first ? dim3(chunks, transforms) : dim3(transforms, chunks),
                   dim3(static_cast<unsigned>(threads)), shared_bytes, shape_, chunks_first,
                   arrays_);
  }

  void finish(const Transform* transforms, int count, const Statistics& statistics) {
    with_kept(shape_.columns, plan_.tiling.columns.largest_part(), [&](auto length, auto kept) {
      const unsigned blocks = row_blocks(shape_.valid_rows);
      const auto launch = [&](auto ahead) {
        device_.launch("finish_rows", finish_rows<length, kept, ahead, Storage>,
                       dim3(blocks, static_cast<unsigned>(shape_.tiles)),
                       dim3(RowFft<length, Storage>::kThreads),
                       last_rows_shared<length, Storage, kept, ahead>(), shape_, places_.data(),
                       transforms, count, arrays_, valid_width_, statistics);
      };
      if constexpr (kReadsAhead<length, kept, Storage>) {
        if (plan_.rows_ahead) return launch(std::true_type{});
      }
      launch(std::false_type{});
    });
  }

  Device& device_;
  const FusedPlan plan_;
  const FusedShape shape_;
  const int valid_width_;
  float template_scale_ = 1;
  Buffer<Root> row_roots_, column_roots_;
  Buffer<TilePlace> places_;
  Buffer<Element> spectra_, template_rows_, exchange_;
  Buffer<Transform> list_;
  FusedArrays<Storage> arrays_;
};

}  // namespace engine::cuda
