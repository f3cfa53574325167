#include "scheduler/cli/items/templates.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <ostream>
#include <sstream>
#include <vector>

#include "base/nearest_name.h"
#include "base/size_text.h"
#include "base/text.h"
#include "base/yaml_load.h"
#include "scheduler/cli/items/micrographs.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

// The daemon hashes the whole volume, perhaps after those of other requests.
constexpr std::chrono::hours kHashing{1};

using nlohmann::json;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw Failure(Exit::kNotFound, path + ": cannot read it: " + std::strerror(errno));
  return text.str();
}

// Refused here by the name of the file, which the daemon does not know.
std::string read_settings(const std::string& path) {
  std::string text = read_text(path);
  try {
    base::load_yaml(text, path);
  } catch (const base::YamlError& error) {
    throw Failure(Exit::kFailed, error.what());
  }
  return text;
}

std::string versioned(const json& entry) {
  return text_of(entry, "name") + "@" + std::to_string(entry.at("version").get<int>());
}

// "1,596,000 orientations x 13 defocus planes"; empty: they are not known.
std::string search_counts_text(const json& entry) {
  const json counts = entry.value("counts", json(nullptr));
  if (counts.is_null()) return "";
  const auto planes = counts.at("defocus_planes").get<int64_t>();
  return base::counted(counts.at("orientations").get<int64_t>(), "orientation") + " x " +
         base::counted(planes, "defocus plane");
}

// Only what a template's name may be made of is put into an address.
std::string in_address(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '@';
  });
  if (!plain) throw Failure(Exit::kNotFound, "no template '" + name + "'");
  return name;
}

}  // namespace

json find_template(const json& answer, const std::string& name) {
  json found;
  std::vector<std::string> known;
  for (const json& entry : answer.at("templates")) {
    known.push_back(text_of(entry, "name"));
    if (versioned(entry) == name) return entry;
    if (known.back() == name) found = entry;  // they come by version
  }
  if (!found.is_null()) return found;
  throw Failure(Exit::kNotFound, "no template '" + name + "'" + base::did_you_mean(name, known));
}

Exit add_template(const Context& context, const TemplateOptions& options) {
  const OpenFile volume = open_file(options.volume);
  json body = {{"file", 0}};
  api::put_text(body, "name", options.name);
  api::put_text(body, "path", volume.path);
  api::put_text(body, "search_yaml", read_settings(options.config));
  api::put_text(body, "search_path", options.config);
  const json answer = context.post("/v1/templates", body, {volume.descriptor.get()}, kHashing);
  if (context.print_if_json(answer)) return Exit::kOk;
  if (const auto warning = api::get_text(answer, "warning")) {
    context.complain("warning: " + *warning);
  }
  for (const json& note : answer.value("notes", json::array())) {
    context.complain("warning: " + text_of(note, "text"));
  }
  const json& entry = answer.at("template");
  const bool existed = answer.value("existed", false);
  context.out() << "template " << printable(versioned(entry))
                << (existed ? " is already registered, with the same volume and settings\n"
                            : " registered\n");
  context.out() << "volume   " << printable(text_of(entry, "volume")) << " ("
                << base::size_text(entry.at("volume_bytes").get<int64_t>()) << ", sha256 "
                << entry.at("volume_sha256").get<std::string>().substr(0, 12) << "...)\n";
  if (const std::string counts = search_counts_text(entry); !counts.empty()) {
    context.out() << "search   " << counts << "\n";
  }
  return Exit::kOk;
}

Exit show_template(const Context& context, const std::string& name, bool settings) {
  const json entry = find_template(context.get("/v1/templates"), name);
  if (settings && !context.wants_json()) {
    const std::string text = text_of(entry, "search_yaml");
    context.out() << (context.screen().terminal ? printable_lines(text) : text);
    return Exit::kOk;
  }
  if (context.print_if_json({{"template", entry}})) return Exit::kOk;
  const auto line = [&](const char* key, const std::string& value) {
    context.field(key, value, 12);
  };
  line("template", versioned(entry));
  line("owner", text_of(entry, "owner"));
  line("registered", time_text(entry.at("created").get<int64_t>()));
  line("volume", text_of(entry, "volume"));
  line("size", base::size_text(entry.at("volume_bytes").get<int64_t>()));
  line("sha256", entry.at("volume_sha256").get<std::string>());
  line("search", search_counts_text(entry));
  context.out() << "See its search settings with 'margay template show " << printable(name)
                << " --settings'.\n";
  return Exit::kOk;
}

Exit remove_template(const Context& context, const std::string& name) {
  const json answer = context.post("/v1/templates/" + in_address(name) + "/remove", json::object());
  if (context.print_if_json(answer)) return Exit::kOk;
  for (const json& entry : answer.at("removed")) {
    context.out() << "template " << printable(versioned(entry)) << " removed\n";
  }
  return Exit::kOk;
}

Exit rename_template(const Context& context, const std::string& name, const std::string& new_name) {
  json body = json::object();
  api::put_text(body, "name", new_name);
  const json answer = context.post("/v1/templates/" + in_address(name) + "/rename", body);
  if (context.print_if_json(answer)) return Exit::kOk;
  context.out() << "template " << printable(name) << " is now " << printable(new_name) << "\n";
  return Exit::kOk;
}

Exit list_templates(const Context& context) {
  const json answer = context.get("/v1/templates");
  if (context.print_if_json(answer)) return Exit::kOk;
  Table table({{.title = "TEMPLATE"},
               {.title = "SIZE", .align = Align::kRight},
               {.title = "SHA256"},
               {.title = "OWNER"},
               {.title = "REGISTERED"},
               {.title = "VOLUME", .least = 20, .cut = Cut::kStart}});
  for (const json& entry : answer.at("templates")) {
    table.add({{versioned(entry), style::kBold},
               {base::size_text(entry.at("volume_bytes").get<int64_t>())},
               {entry.at("volume_sha256").get<std::string>().substr(0, 12)},
               {text_of(entry, "owner")},
               {time_text(entry.at("created").get<int64_t>())},
               {text_of(entry, "volume")}});
  }
  context.print(table, "no templates; register one with 'margay template add'\n");
  return Exit::kOk;
}

}  // namespace scheduler::cli
