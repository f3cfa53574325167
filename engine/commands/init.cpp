// Implements add_init of commands.h: writes a search configuration to begin with.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/utf8.h"
#include "engine/commands/commands.h"
#include "engine/commands/options.h"
#include "engine/config/input_checks.h"
#include "engine/io/format.h"
#include "engine/io/mrc.h"

namespace engine {
namespace {

struct InitCommand {
  std::string file = "search.yaml";
  std::string micrograph;
  std::string search_template;
  double pixel_size = 0;  // A; 0: from the headers
};

std::string quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// Control characters, and what some readers of YAML take for the end of a line.
bool breaks_yaml(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x2028 ||
         code_point == 0x2029;
}

void check_path(const std::string& option, const std::string& path) {
  bool good = base::is_utf8(path);
  for (std::string_view rest = path; good && !rest.empty();) {
    const size_t size = base::utf8_sequence(rest);
    good = !breaks_yaml(base::code_point(rest.substr(0, size)));
    rest.remove_prefix(size);
  }
  if (!good) {
    throw InputError(option +
                     ": the path has line breaks, control characters or bytes that are not UTF-8, "
                     "which a YAML file cannot hold; choose another name");
  }
}

// Of the header along x; nullopt: no file, or none in its header.
std::optional<double> pixel_size_of(const std::string& option, const std::string& path) {
  if (path.empty()) return std::nullopt;
  check_path(option, path);
  const double found = read_mrc_header(path).pixel_size[0];
  return found > 0 ? std::optional(found) : std::nullopt;
}

std::optional<double> find_pixel_size(const InitCommand& command) {
  const auto micrograph = pixel_size_of("--micrograph", command.micrograph);
  const auto volume = pixel_size_of("--template", command.search_template);
  if (command.pixel_size > 0) return command.pixel_size;
  if (micrograph && volume && std::abs(*micrograph - *volume) > kPixelSizeTolerance * *micrograph) {
    throw InputError(
        format("'%s' has a pixel size of %g A in its header and '%s' one of %g A; "
               "rescale the template or, if a header is wrong, give --pixel-size here and "
               "--allow-pixel-size-mismatch to plan and match",
               command.micrograph.c_str(), *micrograph, command.search_template.c_str(), *volume));
  }
  return micrograph ? micrograph : volume;
}

// A line `key: value`, behind a '#' where there is none yet.
std::string line_or_comment(const std::string& indent, const std::string& key,
                            const std::string& value, const std::string& example) {
  if (!value.empty()) return indent + key + ": " + value + "\n";
  return "#" + indent + key + ": " + example + "\n";
}

std::string inputs_text(const InitCommand& command) {
  const auto path = [](const std::string& given) { return given.empty() ? "" : quoted(given); };
  return "# A search of one micrograph for one template, as Leopard-EM's match_template takes it.\n"
         "#   margay-engine plan " +
         command.file +
         "    how long it takes, without searching\n"
         "#   margay-engine match " +
         command.file +
         "   search\n"
         "#   margay template add VOLUME --name NAME --config " +
         command.file +
         "\n"
         "#                                   register it with the queue, which ignores paths and\n"
         "#                                   defocus here: they come with each micrograph\n"
         "# Every key: docs/formats.md. Paths are relative to the folder where the program is "
         "started.\n"
         "\n"
         "# MRC: one image, both sides even; a cube of density with the same pixel size.\n" +
         line_or_comment("", "micrograph_path", path(command.micrograph), "micrograph.mrc") +
         line_or_comment("", "template_volume_path", path(command.search_template), "template.mrc");
}

std::string optics_text(const std::optional<double>& pixel_size) {
  return "\n"
         "optics_group:\n"
         "  label: group1\n"
         "  # A, of both files" +
         std::string(pixel_size ? ", from their headers or --pixel-size."
                                : ": no header says it, so fill it in.") +
         "\n" +
         line_or_comment("  ", "pixel_size", pixel_size ? format("%.6g", *pixel_size) : "",
                         "1.06") +
         "  voltage: 300.0                 # kV\n"
         "  spherical_aberration: 2.7      # mm\n"
         "  amplitude_contrast_ratio: 0.07\n"
         "  # For margay-engine alone: A, underfocus positive; degrees, of defocus_u, from x to "
         "y.\n"
         "#  defocus_u: 10200.0\n"
         "#  defocus_v: 9800.0\n"
         "#  astigmatism_angle: 35.0\n"
         "#  phase_shift: 0.0              # degrees (CTFFIND writes radians)\n";
}

constexpr const char* kSearchText =
    "\n"
    "# Defocus planes in A, relative to the defocus of the micrograph.\n"
    "defocus_search_config:\n"
    "  enabled: true\n"
    "  defocus_min: -1000.0\n"
    "  defocus_max: 1000.0\n"
    "  defocus_step: 200.0\n"
    "\n"
    "# Steps in degrees, in the plane and out of it: half of each searches eight times as long. "
    "The\n"
    "# symmetry of the template leaves out the orientations that are the same.\n"
    "orientation_search_config:\n"
    "  psi_step: 1.5\n"
    "  theta_step: 2.5\n"
    "  symmetry: C1\n"
    "\n"
    "preprocessing_filters:\n"
    "  whitening_filter: {enabled: true}\n"
    "  bandpass_filter: {enabled: false}\n"
    "\n"
    "# CUDA devices: 0, [0, 1], all; or cpu. --backend chooses between processor and GPU.\n"
    "computational_config:\n"
    "  gpu_ids: all\n"
    "\n"
    "# Margay's own section, which Leopard-EM refuses. particle_radius in A: no peak is picked "
    "within\n"
    "# it of a higher one. Without it, within 5 pixels, as Leopard-EM does.\n"
    "#peaks:\n"
    "#  particle_radius: 120.0\n"
    "# Margay's own, too: to search on larger pixels that still hold what bandpass_filter lets\n"
    "# pass, in less time. The error is measured before the search and shown.\n"
    "#fourier_crop:\n"
    "#  enabled: true\n";

// "x" of DIR/x.mrc and of DIR/x.mrc.gz.
std::string stem_of(const std::string& file) {
  std::filesystem::path name = std::filesystem::path(file).filename();
  if (name.extension() == ".gz" || name.extension() == ".bz2") name = name.stem();
  return name.stem().string();
}

std::string results_text(const std::string& micrograph) {
  const std::string stem = micrograph.empty() ? "micrograph" : stem_of(micrograph);
  std::string text =
      "\n# Eight maps; the peak list and pictures go beside scaled_mip_path, or where --output "
      "says.\n"
      "match_template_result:\n"
      "  allow_file_overwrite: false\n";
  for (const auto& [key, name] : {std::pair{"mip_path", "mip"},
                                  {"scaled_mip_path", "scaled_mip"},
                                  {"correlation_average_path", "correlation_average"},
                                  {"correlation_variance_path", "correlation_variance"},
                                  {"orientation_psi_path", "psi"},
                                  {"orientation_theta_path", "theta"},
                                  {"orientation_phi_path", "phi"},
                                  {"relative_defocus_path", "relative_defocus"}}) {
    text += std::string("  ") + key + ": " + quoted("results/" + stem + "_" + name + ".mrc") + "\n";
  }
  return text;
}

ExitCode run(const InitCommand& command) {
  check_path("FILE", command.file);
  const std::optional<double> pixel_size = find_pixel_size(command);
  const std::string text = inputs_text(command) + optics_text(pixel_size) + kSearchText +
                           results_text(command.micrograph);
  try {
    if (!base::write_new_file_atomically(command.file, text)) {
      throw InputError("'" + command.file + "' exists; name another file, or remove it");
    }
  } catch (const base::FileError& error) {
    throw InputError(error.what());
  }
  print_message("configuration written to '" + command.file +
                "'; edit it, then run 'margay-engine "
                "plan " +
                command.file + "'");
  return ExitCode::kDone;
}

}  // namespace

void add_init(CLI::App& app, ExitCode& code) {
  const auto [command, init] = add_command<InitCommand>(
      app, code, "init", "Write a search configuration with explanations, to begin with",
      "Example:\n  margay-engine init search.yaml --micrograph image.mrc --template volume.mrc",
      run);
  add_file(command, "FILE", init.file, "Write this file, which must not exist")
      .capture_default_str();
  add_file(command, "--micrograph", init.micrograph, "Micrograph, for its path and pixel size");
  add_file(command, "--template", init.search_template, "Template, for its path and pixel size");
  command
      .add_option("--pixel-size", init.pixel_size,
                  "Pixel size in A, where the headers have none or a wrong one")
      ->transform(range(0.01, 100.0))
      ->type_name("NUMBER");
}

}  // namespace engine
