#include "scheduler/script/engine_config.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/optics_limits.h"
#include "base/other_content.h"
#include "base/yaml_load.h"

namespace scheduler {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 8> kMaps = {{
    {"mip_path", "mip.mrc"},
    {"scaled_mip_path", "scaled_mip.mrc"},
    {"correlation_average_path", "mean.mrc"},
    {"correlation_variance_path", "sd.mrc"},
    {"orientation_psi_path", "psi.mrc"},
    {"orientation_theta_path", "theta.mrc"},
    {"orientation_phi_path", "phi.mrc"},
    {"relative_defocus_path", "defocus.mrc"},
}};

std::string number(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

void emit(YAML::Emitter& out, const YAML::Node& node);

void emit_mapping(YAML::Emitter& out, const YAML::Node& node) {
  out << YAML::BeginMap;
  for (const auto& entry : node) {
    out << YAML::Key;
    emit(out, entry.first);
    out << YAML::Value;
    emit(out, entry.second);
  }
  out << YAML::EndMap;
}

void emit_sequence(YAML::Emitter& out, const YAML::Node& node) {
  out << YAML::BeginSeq;
  for (const auto& element : node) emit(out, element);
  out << YAML::EndSeq;
}

// Node by node rather than whole: a quoted scalar stays quoted, so that "0" never turns into 0, and
// aliases are written out.
void emit(YAML::Emitter& out, const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      out << YAML::Null;
      return;
    case YAML::NodeType::Scalar:
      // "!" marks a scalar that was quoted.
      if (node.Tag() == "!") out << YAML::DoubleQuoted;
      out << node.Scalar();
      return;
    case YAML::NodeType::Sequence:
      emit_sequence(out, node);
      return;
    case YAML::NodeType::Map:
      emit_mapping(out, node);
      return;
  }
}

// A scalar that the emitter quotes whatever its text looks like.
YAML::Node quoted(const std::string& text) {
  YAML::Node node(text);
  node.SetTag("!");
  return node;
}

void name_hash(YAML::Node& root, const char* key, const std::string& sha256) {
  root.remove(key);
  if (!sha256.empty()) root[key] = quoted(sha256);
}

YAML::Node load(const std::string& search_yaml) {
  YAML::Node root;
  try {
    root = base::load_yaml(search_yaml, "search_yaml");
  } catch (const base::YamlError& error) {
    throw SearchSettingsError(error.what());
  }
  if (!root.IsMap()) throw SearchSettingsError("must be a mapping of keys to values");
  return root;
}

// One that must be there is positive.
void check_number(const YAML::Node& optics, const std::string& key, const base::Limits& limits,
                  bool optional) {
  const YAML::Node value = optics[key];
  if (optional && (!value || value.IsNull())) return;
  const std::string name = "optics_group." + key;
  double number = 0;
  if (!value || !value.IsScalar() || !YAML::convert<double>::decode(value, number) ||
      !(number > 0 || (optional && number == 0))) {
    throw SearchSettingsError(name + " is missing or is not a positive number");
  }
  const auto refuse = [&](const char* most, double limit) {
    std::ostringstream text;
    text << name << " must be at " << most << ' ' << limit << limits.unit << ", but is "
         << value.Scalar();
    throw SearchSettingsError(text.str());
  };
  if (number < limits.least) refuse("least", limits.least);
  if (number > limits.most) refuse("most", limits.most);
}

void check_optics(const YAML::Node& root) {
  const YAML::Node optics = root["optics_group"];
  if (!optics || !optics.IsMap()) {
    throw SearchSettingsError("optics_group is missing: it gives pixel_size and voltage");
  }
  check_number(optics, "pixel_size", base::kPixelSize, false);
  check_number(optics, "voltage", base::kVoltage, false);
  check_number(optics, "spherical_aberration", base::kSphericalAberration, true);
  check_number(optics, "amplitude_contrast_ratio", base::kAmplitudeContrast, true);
}

}  // namespace

void check_search_settings(const std::string& search_yaml) { check_optics(load(search_yaml)); }

SettingsOptics optics_of_settings(const std::string& search_yaml) {
  const auto group = [&] {
    try {
      return load(search_yaml)["optics_group"];
    } catch (const SearchSettingsError&) {
      return YAML::Node();  // their own message comes when a job is made of them
    }
  };
  const YAML::Node optics = group();
  const auto value = [&](const char* key) {
    double number = 0;
    const bool known = optics && optics.IsMap() && optics[key] && optics[key].IsScalar() &&
                       YAML::convert<double>::decode(optics[key], number);
    return known ? number : 0;
  };
  return {.pixel_size = value("pixel_size"),
          .voltage = value("voltage"),
          .spherical_aberration = value("spherical_aberration")};
}

std::string engine_config(const EngineInput& input) {
  YAML::Node root = load(input.search_yaml);
  check_optics(root);
  root["micrograph_path"] = quoted(input.micrograph_path);
  root["template_volume_path"] = quoted(input.template_path);
  name_hash(root, base::kMicrographHashKey, input.micrograph_sha256);
  name_hash(root, base::kVolumeHashKey, input.template_sha256);
  YAML::Node optics = root["optics_group"];
  optics["defocus_u"] = number(input.ctf.defocus_u);
  optics["defocus_v"] = number(input.ctf.defocus_v);
  optics["astigmatism_angle"] = number(input.ctf.astigmatism_angle);
  optics["phase_shift"] = number(input.ctf.phase_shift);
  // The section is replaced whole: the author's own paths belong to none of the queue's searches.
  YAML::Node results(YAML::NodeType::Map);
  for (const auto& [key, file] : kMaps) results[key] = quoted(input.folder + "/" + file);
  root["match_template_result"] = results;
  YAML::Emitter out;
  emit(out, root);
  return std::string(out.c_str()) + "\n";
}

}  // namespace scheduler
