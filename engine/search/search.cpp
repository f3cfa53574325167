// Implements make_search_space and prepare_search of search.h.
#include "engine/search/search.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <sstream>
#include <utility>

#include "base/sha256.h"
#include "engine/error.h"
#include "engine/numerics/fourier_crop.h"
#include "engine/numerics/preprocess.h"

namespace engine {
namespace {

constexpr double kManyDeviations = 100;  // of a pixel that no molecule makes

// The pixel farthest from the mean.
struct ExtremePixel {
  size_t index = 0;
  double deviations = 0;
};

ExtremePixel find_extreme_pixel(const Image& image) {
  const auto [mean, sd] = moments(image.pixels);
  size_t worst = 0;
  for (size_t i = 0; i < image.pixels.size(); ++i) {
    if (std::abs(image.pixels[i] - mean) > std::abs(image.pixels[worst] - mean)) worst = i;
  }
  return {.index = worst, .deviations = std::abs(image.pixels[worst] - mean) / sd};
}

// What a sum that leaves its range is most likely due to.
std::string describe(const ExtremePixel& pixel, const Image& image) {
  std::ostringstream text;
  text.precision(3);
  text << "the micrograph's most extreme pixel is (row "
       << pixel.index / static_cast<size_t>(image.width) << ", column "
       << pixel.index % static_cast<size_t>(image.width) << "), " << pixel.deviations
       << " standard deviations from the mean";
  return text.str();
}

std::string hash_floats(const std::vector<float>& values) {
  return base::sha256_of_bytes(values.data(), values.size() * sizeof(float));
}

template <typename T>
void put(std::ostream& out, const std::optional<T>& value) {
  if (value) {
    out << *value;
  } else {
    out << "none";
  }
  out << ';';
}

std::string optics_text(const OpticsGroup& o) {
  std::ostringstream out;
  out.precision(17);
  out << o.pixel_size << ';' << o.voltage << ';' << o.spherical_aberration << ';'
      << o.amplitude_contrast_ratio << ';' << o.phase_shift << ';' << o.defocus_u << ';'
      << o.defocus_v << ';' << o.astigmatism_angle << ';' << o.ctf_b_factor << ';';
  for (const auto& zernikes : {o.even_zernikes, o.odd_zernikes}) {
    for (const auto& [name, value] : zernikes) out << name << ':' << value << ';';
  }
  if (o.mag_matrix) {
    for (const double value : *o.mag_matrix) out << value << ';';
  }
  return out.str();
}

std::string filters_text(const PreprocessingFilters& f) {
  std::ostringstream out;
  out.precision(17);
  out << f.whitening.enabled << ';' << f.whitening.do_power_spectrum << ';';
  put(out, f.whitening.num_freq_bins);
  put(out, f.whitening.max_freq);
  out << f.bandpass.enabled << ';' << f.bandpass.low_freq_cutoff << ';'
      << f.bandpass.high_freq_cutoff << ';' << f.bandpass.falloff << ';'
      << f.arbitrary_curve.enabled << ';';
  for (const double value : f.arbitrary_curve.frequencies) out << value << ';';
  for (const double value : f.arbitrary_curve.amplitudes) out << value << ';';
  return out.str();
}

std::string shape_text(int height, int width) {
  return std::to_string(height) + 'x' + std::to_string(width) + ':';
}

std::string grid_text(const SearchGrid& grid) {
  return std::to_string(grid.height) + 'x' + std::to_string(grid.width) + ':' +
         std::to_string(grid.template_size);
}

SearchIdentity identify(const SearchConfig& config, const SearchSpace& space,
                        const std::optional<SearchGrid>& grid, const Image& micrograph,
                        const Volume& volume) {
  std::vector<float> angles;
  for (const Orientation& o : space.list.orientations) {
    angles.insert(angles.end(), {o.phi, o.theta, o.psi});
  }
  SearchIdentity identity{
      {{"micrograph",
        shape_text(micrograph.height, micrograph.width) + hash_floats(micrograph.pixels)},
       {"template", shape_text(volume.size, volume.size) + hash_floats(volume.voxels)},
       {"optics", optics_text(config.optics)},
       {"defocus planes", hash_floats(space.planes)},
       {"orientations", hash_floats(angles)},
       {"filters", filters_text(config.filters)}}};
  if (grid) identity.parts.emplace_back("fourier_crop", grid_text(*grid));
  return identity;
}

// Values beyond single precision would make every correlation NaN.
void check_finite(const SearchConfig& config, const Problem& p) {
  const auto finite = [](const std::vector<std::complex<float>>& values) {
    return std::all_of(values.begin(), values.end(), [](const std::complex<float>& value) {
      return std::isfinite(value.real()) && std::isfinite(value.imag());
    });
  };
  if (!finite(p.volume_spectrum)) {
    throw InputError("template_volume_path: '" + config.template_volume_path +
                     "' holds values too large for single precision: scale it down");
  }
  if (!finite(p.image_spectrum) || !std::all_of(p.filters.begin(), p.filters.end(), finite)) {
    throw InputError(config.path +
                     ": optics_group, defocus_search_config or preprocessing_filters hold values "
                     "so extreme that the filters are not finite: check their units");
  }
}

}  // namespace

SearchSpace make_search_space(const SearchConfig& config) {
  SearchSpace space;
  try {
    space.planes = defocus_planes(config.defocus);
    const int64_t correlations =
        count_orientations(config.orientations) * static_cast<int64_t>(space.planes.size());
    if (correlations >= kIndexLimit) {
      throw InputError("orientation_search_config and defocus_search_config give " +
                       std::to_string(correlations) + " correlations; at most " +
                       std::to_string(kIndexLimit - 1) + " are possible; use larger steps");
    }
    space.list = make_orientations(config.orientations);
  } catch (const InputError& error) {
    throw InputError(config.path + ": " + error.what());
  }
  // An odd aberration makes the filter complex, and the mirrored projection another one.
  space.units = make_units(space.list, config.optics.odd_zernikes.empty());
  return space;
}

namespace {

std::vector<std::complex<float>> in_single_precision(
    const std::vector<std::complex<double>>& values) {
  return {values.begin(), values.end()};
}

// The problem on a coarser grid.
Problem cropped(const Problem& whole, const PreparedImage& image, const SearchGrid& grid) {
  Problem p;
  p.height = grid.height;
  p.width = grid.width;
  p.template_size = grid.template_size;
  p.image_spectrum = crop_image_spectrum(image, grid);
  p.volume_spectrum =
      crop_volume_spectrum(whole.volume_spectrum, whole.template_size, grid.template_size);
  for (const auto& filter : whole.filters) {
    p.filters.push_back(crop_filter(filter, whole.template_size, grid.template_size));
  }
  p.magnified = whole.magnified;
  p.extreme_pixel = "the map's pixels are the search's, " + std::to_string(grid.width) + " x " +
                    std::to_string(grid.height) + " for the whole micrograph; " +
                    whole.extreme_pixel;
  p.magnification = whole.magnification;
  p.orientations = whole.orientations;
  return p;
}

// `whole` gives up what it has.
CropSample sample_of(Problem&& whole, const PreparedImage& image, const SearchGrid& grid) {
  CropSample sample;
  sample.grid = grid_of_sample(grid, image.height, image.width);
  sample.whole = std::move(whole);
  sample.whole.height = sample.grid.padded_height;
  sample.whole.width = sample.grid.padded_width;
  const PreparedImage middle = middle_of(image, sample.whole.height, sample.whole.width);
  sample.whole.image_spectrum = in_single_precision(middle.spectrum);
  sample.image_spectrum = crop_image_spectrum(middle, sample.grid);
  return sample;
}

}  // namespace

Search prepare_search(const SearchConfig& config, const Image& micrograph, const Volume& volume) {
  Search search;
  search.config = config;
  search.space = make_search_space(config);
  search.grid = search_grid_of(config, micrograph.height, micrograph.width, volume.size);
  // These take seconds each for a large template. Where no thread is to be had, one after another.
  constexpr auto kBeside = std::launch::async | std::launch::deferred;
  auto identity = std::async(
      kBeside, [&] { return identify(config, search.space, search.grid, micrograph, volume); });
  auto spectrum = std::async(kBeside, [&] { return volume_spectrum(volume); });
  Problem& p = search.problem;
  p.height = micrograph.height;
  p.width = micrograph.width;
  p.template_size = volume.size;
  p.magnified = config.optics.mag_matrix.has_value();
  p.magnification = frequency_transform(config.optics);
  p.orientations = search.space.list.orientations;
  const ExtremePixel extreme = find_extreme_pixel(micrograph);
  p.extreme_pixel = describe(extreme, micrograph);
  if (extreme.deviations > kManyDeviations) {
    search.notes.push_back(p.extreme_pixel +
                           ": such a pixel lowers all scores; remove hot pixels before the search");
  }
  const PreparedImage image = prepare_image(micrograph, volume.size, config.filters);
  p.image_spectrum = in_single_precision(image.spectrum);
  p.filters =
      projective_filters(config.optics, search.space.planes, volume.size, image.template_filter);
  p.volume_spectrum = spectrum.get();
  search.identity = identity.get();
  check_finite(config, p);
  if (search.grid) {
    Problem on_grid = cropped(p, image, *search.grid);
    search.sample = sample_of(std::move(p), image, *search.grid);
    search.problem = std::move(on_grid);
  }
  return search;
}

}  // namespace engine
