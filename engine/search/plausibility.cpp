#include "engine/search/plausibility.h"

#include <cmath>
#include <cstdint>
#include <sstream>
#include <utility>

#include "base/ctf_doubts.h"
#include "base/text.h"
#include "engine/error.h"
#include "engine/numerics/orientations.h"

namespace engine {
namespace {

// What microscopes and searches have; wider than anything usual. What is beyond base's limits
// (base/optics_limits.h) is refused before.
constexpr double kLeastVoltage = 60;       // kV
constexpr double kMostVoltage = 1300;      // kV
constexpr double kLeastAberration = 0.01;  // mm, but for 0
constexpr double kMostAberration = 10;     // mm
constexpr double kMostAmplitudeContrast = 0.3;
constexpr double kLeastPixelSize = 0.2;             // A
constexpr double kMostPixelSize = 20;               // A
constexpr double kMostAstigmatism = 5000;           // A
constexpr int64_t kManyOrientations = 100'000'000;  // a usual search has some millions

std::string text_of(double value) {
  std::ostringstream text;
  text.precision(7);
  text << value;
  return text.str();
}

class Checks {
 public:
  explicit Checks(const SearchConfig& config) : config_(config), optics_(config.optics) {}

  std::vector<std::string> all() {
    check_optics();
    check_phase();
    check_defocus("optics_group.defocus_u", optics_.defocus_u);
    check_defocus("optics_group.defocus_v", optics_.defocus_v);
    check_astigmatism();
    check_defocus_search();
    check_orientations();
    return std::move(found_);
  }

 private:
  void warn(const std::string& key, double value, const char* unit, const std::string& doubt) {
    found_.push_back(key + " is " + text_of(value) + unit + ": " + doubt);
  }

  void check_optics() {
    if (optics_.voltage < kLeastVoltage || optics_.voltage > kMostVoltage) {
      warn("optics_group.voltage", optics_.voltage, " kV",
           "microscopes have 80 to 300 kV; has it a digit too many or too few?");
    }
    if (optics_.spherical_aberration > kMostAberration) {
      warn("optics_group.spherical_aberration", optics_.spherical_aberration, " mm",
           "objective lenses have 0 to 5 mm; is its decimal point missing?");
    } else if (optics_.spherical_aberration > 0 &&
               optics_.spherical_aberration < kLeastAberration) {
      warn("optics_group.spherical_aberration", optics_.spherical_aberration, " mm",
           "objective lenses have 0 to 5 mm; is it in m?");
    }
    if (optics_.pixel_size < kLeastPixelSize) {
      warn("optics_group.pixel_size", optics_.pixel_size, " A",
           "micrographs have 0.3 to 10 A; is it in nm?");
    } else if (optics_.pixel_size > kMostPixelSize) {
      warn("optics_group.pixel_size", optics_.pixel_size, " A",
           "micrographs have 0.3 to 10 A; is it in pm?");
    }
  }

  void check_phase() {
    if (optics_.amplitude_contrast_ratio > kMostAmplitudeContrast) {
      warn("optics_group.amplitude_contrast_ratio", optics_.amplitude_contrast_ratio, "",
           "in ice it is 0.07 to 0.1; is its decimal point right?");
    }
    const std::string doubt = base::phase_shift_doubt(optics_.phase_shift);
    if (!doubt.empty()) warn("optics_group.phase_shift", optics_.phase_shift, " degrees", doubt);
  }

  void check_defocus(const std::string& key, double value) {
    const std::string doubt = base::defocus_doubt(value);
    if (!doubt.empty()) warn(key, value, " A", doubt);
  }

  void check_astigmatism() {
    const double difference = std::abs(optics_.defocus_u - optics_.defocus_v);
    const bool both_usual =
        base::is_usual_defocus(optics_.defocus_u) && base::is_usual_defocus(optics_.defocus_v);
    if (!both_usual || difference <= kMostAstigmatism) return;
    found_.push_back("optics_group.defocus_u and defocus_v differ by " + text_of(difference) +
                     " A: astigmatism is usually below 2000 A; is one of them wrong?");
  }

  void check_defocus_search() {
    const DefocusSearch& search = config_.defocus;
    if (search.enabled && search.step > 0 && search.step < 1) {
      warn("defocus_search_config.defocus_step", search.step, " A",
           "planes are usually 100 to 500 A apart; is it in um? 1 um is 10000 A");
    }
  }

  void check_orientations() {
    try {
      const int64_t count = count_orientations(config_.orientations);
      if (count < kManyOrientations) return;
      found_.push_back("orientation_search_config gives " + base::grouped_number(count) +
                       " orientations, and usual searches have some millions; are psi_step and "
                       "theta_step in degrees?");
    } catch (const InputError&) {
      return;  // the search itself refuses them, in the same words
    }
  }

  const SearchConfig& config_;
  const OpticsGroup& optics_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> implausible_settings(const SearchConfig& config) {
  return Checks(config).all();
}

}  // namespace engine
