#include "scheduler/cli/templates.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <ostream>
#include <sstream>

#include "base/size_text.h"
#include "base/text.h"
#include "base/yaml_load.h"
#include "scheduler/api/json_text.h"
#include "scheduler/cli/micrographs.h"

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

// "1596000 orientations x 13 defocus planes"; empty: they are not known.
std::string search_counts_text(const json& entry) {
  const json counts = entry.value("counts", json(nullptr));
  if (counts.is_null()) return "";
  const auto planes = counts.at("defocus_planes").get<int64_t>();
  return base::counted(counts.at("orientations").get<int64_t>(), "orientation") + " x " +
         base::counted(planes, "defocus plane");
}

}  // namespace

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
