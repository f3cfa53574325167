// Correlates projections with the image by our own transforms, fused with what comes between them:
// no array of the image's size is written but the one between columns and rows. For templates that
// fit one of the compiled lengths. Takes PlaneCorrelator's place.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/cuda/device_concept.h"
#include "engine/cuda/fused/fft_roots.cuh"
#include "engine/cuda/fused/half_gain.h"
#include "engine/cuda/fused/kernels.cuh"
#include "engine/cuda/fused/tile_spectra.h"
#include "engine/cuda/fused_plan.h"

namespace engine::cuda {

// A list of transform lengths, in points; a build compiles kernels for its own (CompiledLengths).
template <int... kValues>
struct LengthList {
  static constexpr std::array<int, sizeof...(kValues)> kLengths = {kValues...};

  // use(std::integral_constant<int, length>), which must be one of them.
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

// How far apart the points of a thread are in the first stage.
inline int first_step(int length, auto lengths) {
  int step = 0;
  decltype(lengths)::with(length, [&](auto known) { step = FftOrder<known>::stride(0); });
  return step;
}

// By which correlations in this storage are too large.
template <typename Storage>
double gain_of_storage(const FusedShape& shape, auto lengths) {
  double gain = 1;
  if constexpr (Storage::kLanes > 1) {
    decltype(lengths)::with(shape.rows, [&](auto rows) {
      decltype(lengths)::with(
          shape.columns, [&](auto columns) { gain = gain_of_correlation<rows, columns>(shape.n); });
    });
  }
  return gain;
}

inline int roots_of_length(int length, auto lengths) {
  int count = 0;
  decltype(lengths)::with(length, [&](auto known) { count = FftOrder<known>::kRoots; });
  return count;
}

template <typename Device, typename Storage, typename Lengths = FusedLengths>
class FusedCorrelator {
 public:
  // `device` must outlive it. `plan` is of plan_fused_memory. `most`: transforms in one call.
  FusedCorrelator(Device& device, const Problem& problem, const MemoryPlan& plan, size_t most)
      : FusedCorrelator(device, problem, most, plan.fused.value()) {}
  FusedCorrelator(Device& device, const Problem& problem, size_t most, FusedPlan plan)
      : device_(device),
        plan_(std::move(plan)),
        shape_(shape_of(problem.template_size, plan_)),
        valid_width_(problem.valid_width()),
        row_roots_(device, "the roots of the rows",
                   static_cast<size_t>(roots_of_length(shape_.columns, Lengths{}))),
        column_roots_(device, "the roots of the columns",
                      static_cast<size_t>(roots_of_length(shape_.rows, Lengths{}))),
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
    upload_roots(shape_.columns, row_roots_);
    upload_roots(shape_.rows, column_roots_);
    const std::vector<TilePlace> places = plan_.tiling.places();
    device_.upload(places_, places.data(), places.size());
    upload_spectra(problem);
  }

  // Adds the correlations of the transforms.
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
    return {.n = n,
            .columns = plan.tiling.columns.length,
            .rows = plan.tiling.rows.length,
            .tiles = static_cast<int>(plan.tiling.places().size()),
            .valid_rows = plan.tiling.rows.largest_part(),
            .transforms = plan.transforms,
            .lane_step = first_step(plan.tiling.rows.length, Lengths{})};
  }

  unsigned row_blocks(int rows) const {
    constexpr int kLines = Storage::kLines;
    return static_cast<unsigned>((shape_.lines<Storage>(rows) + kLines - 1) / kLines);
  }

  // use(length, kInputs): of the first radix, as many quarters as n points reach into, or all.
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

  // use(length, kKept): the points of a thread that a row of `columns` valid ones reaches into, or
  // all.
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

  void upload_roots(int length, Buffer<Root>& roots) {
    Lengths::with(length, [&](auto known) {
      const std::vector<Root> values = make_roots<known, Root>();
      device_.upload(roots, values.data(), values.size());
    });
  }

  void upload_spectra(const Problem& problem) {
    const TileSpectra spectra(problem, plan_.tiling,
                              {.rows = stored_frequencies(shape_.rows, Lengths{}),
                               .columns = stored_frequencies(shape_.columns, Lengths{}),
                               .columns_in_chunk = Storage::kColumns,
                               .gain = gain_of_storage<Storage>(shape_, Lengths{})});
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
    const auto chunks = static_cast<unsigned>(shape_.columns / Storage::kColumns);
    const auto transforms = static_cast<unsigned>(count);
    const bool chunks_first = plan_.grid == ColumnGrid::kChunksFirst;
    with_inputs(shape_.rows, shape_.n, [&](auto length, auto inputs) {
      device_.launch("correlate_columns", correlate_columns<length, inputs, Storage>,
                     chunks_first ? dim3(chunks, transforms) : dim3(transforms, chunks),
                     dim3(ColumnFft<length, Storage>::kThreads), columns_shared<length, Storage>(),
                     shape_, chunks_first, arrays_);
    });
  }

  void finish(const Transform* transforms, int count, const Statistics& statistics) {
    with_kept(shape_.columns, plan_.tiling.columns.largest_part(), [&](auto length, auto kept) {
      const unsigned blocks = row_blocks(shape_.valid_rows);
      device_.launch("finish_rows", finish_rows<length, kept, Storage>,
                     dim3(blocks, static_cast<unsigned>(shape_.tiles)),
                     dim3(RowFft<length, Storage>::kThreads),
                     last_rows_shared<length, Storage, kept>(), shape_, places_.data(), transforms,
                     count, arrays_, valid_width_, statistics);
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
