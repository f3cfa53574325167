#include "scheduler/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "scheduler/files.h"

namespace scheduler {
namespace {

using Readers = std::map<std::string, std::function<void(const YAML::Node&)>>;

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& key, const Readers& known) {
  std::string best;
  size_t least = key.size() / 2 + 1;
  for (const auto& [name, reader] : known) {
    const size_t distance = edit_distance(key, name);
    if (distance <= least) {
      least = distance;
      best = name;
    }
  }
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

std::string place(const std::string& section, const std::string& key) {
  return section.empty() ? key : section + "." + key;
}

// Reads one mapping: each key once, each known.
void read_mapping(const YAML::Node& node, const std::string& file, const std::string& section,
                  const Readers& readers) {
  if (!node.IsMap()) {
    throw ConfigError(file + ": " + (section.empty() ? "the file" : "'" + section + "'") +
                      " must be a mapping of keys to values");
  }
  std::vector<std::string> seen;
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    const auto reader = readers.find(key);
    if (reader == readers.end()) {
      throw ConfigError(file + ": unknown key '" + place(section, key) + "'" +
                        nearest(key, readers));
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      throw ConfigError(file + ": key '" + place(section, key) + "' is given twice");
    }
    seen.push_back(key);
    try {
      reader->second(entry.second);
    } catch (const YAML::Exception&) {
      throw ConfigError(file + ": '" + place(section, key) + "' has a value of the wrong kind");
    } catch (const ConfigError& error) {
      throw ConfigError(file + ": '" + place(section, key) + "' " + error.what());
    }
  }
}

std::function<void(const YAML::Node&)> text_into(std::string& target) {
  return [&target](const YAML::Node& node) { target = node.as<std::string>(); };
}

std::function<void(const YAML::Node&)> number_into(int& target) {
  return [&target](const YAML::Node& node) { target = node.as<int>(); };
}

std::function<void(const YAML::Node&)> duration_into(std::chrono::milliseconds& target) {
  return [&target](const YAML::Node& node) {
    const auto text = node.as<std::string>();
    const auto duration = parse_duration(text);
    if (!duration) {
      throw ConfigError("must be a duration like 500ms, 2s, 10m or 1h, not '" + text + "'");
    }
    target = *duration;
  };
}

void read_keep(const YAML::Node& node, ResultsKeep& keep) {
  static const std::map<std::string, ResultsKeep> words = {
      {"all", ResultsKeep::kAll}, {"scores", ResultsKeep::kScores}, {"peaks", ResultsKeep::kPeaks}};
  const auto text = node.as<std::string>();
  const auto word = words.find(text);
  if (word == words.end()) throw ConfigError("must be all, scores or peaks, not '" + text + "'");
  keep = word->second;
}

void read_top(const YAML::Node& root, const std::string& name, Config& config) {
  const Readers local = {{"slots", number_into(config.local.slots)},
                         {"threads", number_into(config.local.threads)}};
  const Readers intervals = {{"resolve", duration_into(config.intervals.resolve)},
                             {"vanish_pending", duration_into(config.intervals.vanish_pending)},
                             {"vanish_running", duration_into(config.intervals.vanish_running)},
                             {"retry", duration_into(config.intervals.retry)},
                             {"retry_longest", duration_into(config.intervals.retry_longest)}};
  const Readers results = {{"keep", [&](const YAML::Node& n) { read_keep(n, config.keep); }}};
  read_mapping(
      root, name, "",
      {{"state", text_into(config.state)},
       {"socket", text_into(config.socket)},
       {"socket_group", text_into(config.socket_group)},
       {"engine", text_into(config.engine)},
       {"templates", text_into(config.templates)},
       {"cluster", text_into(config.cluster)},
       {"tick", duration_into(config.intervals.tick)},
       {"checkpoint_every", duration_into(config.checkpoint_every)},
       {"local", [&](const YAML::Node& n) { read_mapping(n, name, "local", local); }},
       {"intervals", [&](const YAML::Node& n) { read_mapping(n, name, "intervals", intervals); }},
       {"results", [&](const YAML::Node& n) { read_mapping(n, name, "results", results); }}});
}

void check_ranges(const Config& config) {
  if (config.cluster != "local") {
    throw ConfigError("cluster: '" + config.cluster + "' is not known; this version has 'local'");
  }
  if (config.local.slots < 1 || config.local.slots > 1024) {
    throw ConfigError("local.slots must be between 1 and 1024");
  }
  if (config.local.threads < 0 || config.local.threads > 4096) {
    throw ConfigError("local.threads must be between 0 (all cores) and 4096");
  }
  if (config.intervals.tick.count() < 1) throw ConfigError("tick must be at least 1ms");
  if (config.checkpoint_every.count() < 1) {
    throw ConfigError("checkpoint_every must be at least 1ms");
  }
}

std::string default_templates(const std::filesystem::path& program_folder) {
  const auto installed = program_folder / "../share/margay/templates";
  if (std::filesystem::is_directory(installed)) return installed.string();
  return MARGAY_TEMPLATES;
}

// sun_path's room, with its closing zero.
constexpr size_t kLongestSocket = 107;

}  // namespace

std::string to_string(Shape shape) {
  switch (shape) {
    case Shape::kCpu:
      return "cpu";
    case Shape::kGpu:
      return "gpu";
    case Shape::kNode:
      return "node";
    case Shape::kNodes:
      return "nodes";
  }
  return "";
}

std::optional<Shape> parse_shape(const std::string& word) {
  for (const Shape shape : {Shape::kCpu, Shape::kGpu, Shape::kNode, Shape::kNodes}) {
    if (word == to_string(shape)) return shape;
  }
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> parse_duration(const std::string& text) {
  static const std::map<std::string, int64_t> units = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
  int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  const auto unit = units.find(std::string(stop, end));
  if (error != std::errc{} || unit == units.end() || count < 0 || count > 100'000'000) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(count * unit->second);
}

Config parse_config(const std::string& yaml, const std::string& name) {
  Config config;
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (!root.IsNull()) read_top(root, name, config);
  } catch (const YAML::Exception& error) {
    throw ConfigError(name + ": not YAML: " + error.what());
  }
  return config;
}

Config read_config(const std::string& path) {
  std::optional<std::string> text;
  try {
    text = read_file(path);
  } catch (const std::system_error& error) {
    throw ConfigError(std::string("configuration: ") + error.what());
  }
  if (!text) throw ConfigError("configuration '" + path + "' does not exist");
  return parse_config(*text, path);
}

void complete_config(Config& config, const std::string& program_folder) {
  if (config.state.empty()) {
    throw ConfigError("no state folder: give --state DIR, or 'state' in the configuration");
  }
  const std::filesystem::path programs = program_folder;
  if (config.engine.empty()) config.engine = (programs / "margay-engine").string();
  if (config.templates.empty()) config.templates = default_templates(programs);
  for (std::string* path : {&config.state, &config.engine, &config.templates}) {
    auto absolute = std::filesystem::absolute(*path).lexically_normal().string();
    if (absolute.size() > 1 && absolute.back() == '/') absolute.pop_back();
    *path = absolute;
    if (!is_utf8(absolute)) throw ConfigError("path '" + absolute + "' is not valid UTF-8");
  }
  if (config.socket.empty()) config.socket = config.state + "/margay.sock";
  config.socket = std::filesystem::absolute(config.socket).lexically_normal().string();
  if (config.socket.size() > kLongestSocket) {
    throw ConfigError("socket path '" + config.socket + "' is longer than the " +
                      std::to_string(kLongestSocket) +
                      " bytes a Unix socket may have: set 'socket' to a shorter one");
  }
  check_ranges(config);
}

}  // namespace scheduler
