#include "engine/search/plausibility.h"

#include <cstdint>
#include <sstream>
#include <utility>

#include "engine/error.h"
#include "engine/io/format.h"
#include "engine/numerics/orientations.h"

namespace engine {
namespace {

// What microscopes and searches have; wider than anything usual.
constexpr double kLeastVoltage = 60;                // kV
constexpr double kMostVoltage = 1300;               // kV
constexpr double kMostAberration = 10;              // mm
constexpr double kLeastPixelSize = 0.2;             // A
constexpr double kMostPixelSize = 20;               // A
constexpr double kLeastDefocus = 100;               // A, either sign, but for 0
constexpr double kMostDefocus = 200'000;            // A
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
    check_defocus("optics_group.defocus_u", optics_.defocus_u);
    check_defocus("optics_group.defocus_v", optics_.defocus_v);
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
           "microscopes have 80 to 300 kV; is it in V?");
    }
    if (optics_.spherical_aberration > kMostAberration) {
      warn("optics_group.spherical_aberration", optics_.spherical_aberration, " mm",
           "microscopes have 0 to 5 mm; is it in um?");
    }
    if (optics_.pixel_size < kLeastPixelSize || optics_.pixel_size > kMostPixelSize) {
      warn("optics_group.pixel_size", optics_.pixel_size, " A",
           "micrographs have 0.3 to 10 A; is it in nm, or the detector's?");
    }
  }

  void check_defocus(const std::string& key, double value) {
    if (value < 0) {
      warn(key, value, " A",
           "underfocus is positive here, so this is overfocus; is the sign right?");
    } else if (value != 0 && value < kLeastDefocus) {
      warn(key, value, " A", "is it in um? 1 um is 10000 A");
    } else if (value > kMostDefocus) {
      warn(key, value, " A", "micrographs have 2000 to 60000 A; is it in another unit?");
    }
  }

  void check_defocus_search() {
    const DefocusSearch& search = config_.defocus;
    const bool tiny = search.enabled && search.step > 0 && search.step < 1;
    if (tiny) warn("defocus_search_config.defocus_step", search.step, " A", "is it in um?");
  }

  void check_orientations() {
    try {
      const int64_t count = count_orientations(config_.orientations);
      if (count < kManyOrientations) return;
      found_.push_back("orientation_search_config gives " + grouped_number(count) +
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
