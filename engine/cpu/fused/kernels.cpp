#include "engine/cpu/fused/kernels.h"

// AVX3_DL has the instructions of newer processors with AVX-512; here it stands for vectors of 16
// lanes, AVX3 for those of 8.
#define HWY_WANT_AVX3_DL
// Targets for which no code is compiled. SSSE3 would add nothing to the remaining ones, nor would
// SVE with vectors of 128 bits, as long as NEON's. SVE's vectors of a size that the compiler does
// not know cannot be in arrays; those of 256 bits can, where the compiler has an option for them.
#define MARGAY_FUSED_NEVER (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE2_128)
#ifdef MARGAY_SVE_256
#define MARGAY_FUSED_WITHOUT MARGAY_FUSED_NEVER
#else
#define MARGAY_FUSED_WITHOUT (MARGAY_FUSED_NEVER | HWY_SVE_256)
#endif
#ifdef MARGAY_FEW_INSTRUCTION_SETS
// As few as can be compiled with a sanitizer's checks, too: the compiler takes minutes for each.
#define HWY_DISABLED_TARGETS (MARGAY_FUSED_WITHOUT | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#else
#define HWY_DISABLED_TARGETS MARGAY_FUSED_WITHOUT
#endif
#include <hwy/cache_control.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/fused/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/fused/butterflies-inl.h"
#include "engine/cpu/fused/passes-inl.h"
#include "engine/cpu/fused/projection-inl.h"
#include "engine/cpu/fused/sums-inl.h"
#include "engine/cpu/fused/transpose-inl.h"
#include "engine/cpu/fused/vector_units.h"

HWY_BEFORE_NAMESPACE();
namespace engine::cpu::fused {
namespace HWY_NAMESPACE {

// Loads `count` pixels of a row, and zeros behind them.
inline V load_some(const float* from, size_t count) {
  HWY_ALIGN float pixels[kLanes] = {};
  std::copy_n(from, count, pixels);
  return hn::Load(Floats(), pixels);
}

// Writes the rows of `p`, row r in lane r, to the real parts of `points`, a point for each column.
// A caller who moves `points` on by a vector gets them in the imaginary parts.
void read_rows(const TemplateRows& t, const ScaledProjection& p, float* HWY_RESTRICT points) {
  const Floats d;
  const size_t n = t.size;
  if (p.pixels == nullptr) {
    for (size_t x = 0; x < n; ++x) hn::Store(hn::Zero(d), d, points + x * kPoint);
    return;
  }
  const float* rows[kLanes];
  for (size_t r = 0; r < t.rows; ++r) {
    const size_t row = t.row + r;
    rows[r] = p.pixels + (p.mirrored ? (n - row) % n : row) * n;
  }
  const V factor = hn::Set(d, p.factor), offset = hn::Set(d, p.offset);
  // A vector has the pixels of one column.
  const auto write = [&](V pixels, size_t column) HWY_ATTR __attribute__((always_inline)) {
    const size_t to = p.mirrored && column > 0 ? n - column : column;
    hn::Store(pixels, d, points + to * kPoint);
  };
  size_t x = 0;
  Tile tile;
  if (t.rows == kLanes) {
    for (; x + kLanes <= n; x += kLanes) {
      unroll<kLanes>(MARGAY_UNROLLED {
        tile[index] = hn::MulAdd(hn::LoadU(d, rows[index] + x), factor, offset);
      });
      transpose(tile);
      unroll<kLanes>(MARGAY_UNROLLED { write(tile[index], x + index); });
    }
  }
  for (; x < n; x += kLanes) {
    const size_t columns = std::min(kLanes, n - x);
    for (size_t r = 0; r < kLanes; ++r) {
      tile[r] =
          r < t.rows ? hn::MulAdd(load_some(rows[r] + x, columns), factor, offset) : hn::Zero(d);
    }
    transpose(tile);
    for (size_t i = 0; i < columns; ++i) write(tile[i], x + i);
  }
}

// Where positions lie in working memory, up to the end of a part.
struct Run {
  size_t begin;  // point of working memory
  size_t left;   // points up to the end of the part
};
HWY_INLINE Run run_at(const Line& line, size_t position) {
  const size_t part = position / line.part;
  return {position + part, (part + 1) * line.part - position};
}

// take(index, offset in working memory) for as many positions as there are lanes.
template <class Take>
HWY_INLINE void for_positions(const Line& line, size_t position, const Take& take) {
  const Run run = run_at(line, position);
  if (HWY_LIKELY(run.left >= kLanes)) {
    unroll<kLanes>(MARGAY_UNROLLED { take(index, (run.begin + index) * kPoint); });
  } else {
    unroll<kLanes>(MARGAY_UNROLLED { take(index, run_at(line, position + index).begin * kPoint); });
  }
}

void template_rows(const Line& line, const TemplateRows& t, float* working) {
  float* points = working + line.working() * kPoint;
  read_rows(t, t.first, points);
  read_rows(t, t.second, points + kLanes);
  forward_first(line, points, t.size, working);
  forward_parts(line, working);
  for (size_t p = 0; p < line.length; p += kLanes) {
    float* out = t.out + p / kLanes * t.tiles;
    Tile re, im;
    for_positions(
        line, p, [&](auto index, size_t offset) HWY_ATTR __attribute__((always_inline)) {
          const Point point = load(working + offset);
          re[index] = point.re;
          im[index] = point.im;
        });
    transpose(re);
    transpose(im);
    for (size_t r = 0; r < t.rows; ++r) {
      const Point point{re[r], im[r]};
      t.past_cache ? stream(point, out + r * kPoint) : store(point, out + r * kPoint);
    }
  }
  if (t.past_cache) hwy::FlushStream();
}

// Prefetches `count` floats into the second cache.
HWY_INLINE void fetch(const float* from, size_t count) {
  for (size_t i = 0; i < count; i += kCacheLine) __builtin_prefetch(from + i, 0, 2);
}

// Does the last pass of the columns, and writes the rows that are wanted.
template <bool kPastCache, size_t kRadix>
HWY_NOINLINE void write_rows(const Line& line, const Columns& c,
                             const float* HWY_RESTRICT working) {
  for (size_t j = 0; j < line.part; ++j) {
    Points<kRadix> x;
    last_butterfly<kRadix>(line, working, j, x);
    unroll<kRadix>(MARGAY_UNROLLED {
      const size_t row = j + index * line.part;
      if (row < c.wanted) {
        float* to = c.out + row / kLanes * c.row_blocks + row % kLanes * kPoint;
        kPastCache ? stream(x[index], to) : store(x[index], to);
      }
    });
  }
}

void columns(const Line& line, const Columns& c, float* working) {
  forward_first(line, c.rows, c.count, working);
  for (size_t p = 0; p < line.parts; ++p) {
    if (c.next != nullptr) {
      const size_t begin = p * c.count / line.parts, end = (p + 1) * c.count / line.parts;
      fetch(c.next + begin * kPoint, (end - begin) * kPoint);
    }
    correlate_part(line, c.image + p * line.part * kPoint,
                   working + p * line.part_stride() * kPoint);
  }
  with_radix(line.passes.front().radix, [&](auto radix) {
    if (c.past_cache) {
      write_rows<true, radix>(line, c, working);
    } else {
      write_rows<false, radix>(line, c, working);
    }
  });
  if (c.past_cache) hwy::FlushStream();
}

// Rows of one tile become points.
HWY_INLINE void read_tile(const Line& line, const float* HWY_RESTRICT tile, size_t position,
                          float* working) {
  const Floats d;
  // The processor does not look beyond a page by itself.
  constexpr size_t kAhead = 8 * kLanes * kPoint;
  for (size_t i = 0; i < kLanes * kPoint; i += kCacheLine) hwy::Prefetch(tile + kAhead + i);
  Tile re, im;
  unroll<kLanes>(MARGAY_UNROLLED {
    re[index] = hn::Load(d, tile + index * kPoint);
    im[index] = hn::Load(d, tile + index * kPoint + kLanes);
  });
  transpose(re);
  transpose(im);
  for_positions(
      line, position, [&](auto index, size_t offset) HWY_ATTR __attribute__((always_inline)) {
        store({re[index], im[index]}, working + offset);
      });
}

OutOfRange rows(const Line& line, const Rows& r, float* working) {
  float* scratch = working + line.working() * kPoint;
  size_t read = 0;
  for (size_t p = 0; p < line.parts; ++p) {
    for (; read < (p + 1) * line.part; read += kLanes) {
      read_tile(line, r.in + read * kPoint, read, working);
    }
    inverse_part(line, working + p * line.part_stride() * kPoint);
  }
  OutOfRange found;
  inverse_last(line, working, scratch, [&](size_t begin, size_t count, const float* points) {
    for (size_t k = 0; k < line.parts; ++k) {
      // The fetches are spread over the pass, so that memory is busy while the processor computes.
      if (r.next != nullptr) {
        fetch(r.next + (begin * line.parts + k * count) * kPoint, count * kPoint);
      }
      const size_t column = begin + k * line.part;
      if (column >= r.wanted) continue;
      const size_t now = std::min(count, r.wanted - column);
      if (r.indices.second >= 0) {
        add_points<true>(points + k * count * kPoint, now, column, r, found);
      } else {
        add_points<false>(points + k * count * kPoint, now, column, r, found);
      }
    }
  });
  return found;
}

std::string target_name() { return hwy::TargetName(HWY_TARGET); }

const Kernels* kernels() {
  static const Kernels kAll = {
      target_name, kLanes, template_rows, columns, rows, projection, add_sums,
  };
  return &kAll;
}

}  // namespace HWY_NAMESPACE
}  // namespace engine::cpu::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace engine::cpu::fused {

HWY_EXPORT(kernels);

const Kernels& choose_kernels() {
  const Kernels* best = HWY_DYNAMIC_DISPATCH(kernels)();
#if (HWY_TARGETS & HWY_AVX3) != 0
  const bool has_choice = (hwy::SupportedTargets() & HWY_AVX3) != 0;
  const bool is_wide = best->lanes > N_AVX3::kernels()->lanes;
  if (is_wide && has_choice && !computes_512_bits_at_once(this_processor())) {
    best = N_AVX3::kernels();
  }
#endif
  return *best;
}

}  // namespace engine::cpu::fused
#endif  // HWY_ONCE
