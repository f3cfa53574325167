#include "scheduler/cli/items/results.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <utility>

#include "base/text.h"
#include "scheduler/cli/items/items.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr size_t kMostPeaksShown = 50;

void print_peaks(const Context& context, const json& peaks) {
  if (peaks.empty()) return;
  Table table({{.title = "PEAK", .align = Align::kRight},
               {.title = "X", .align = Align::kRight},
               {.title = "Y", .align = Align::kRight},
               {.title = "Z", .align = Align::kRight},
               {.title = "PHI", .align = Align::kRight},
               {.title = "THETA", .align = Align::kRight},
               {.title = "PSI", .align = Align::kRight},
               {.title = "DEFOCUS", .align = Align::kRight}});
  const size_t shown = std::min(kMostPeaksShown, peaks.size());
  for (size_t i = 0; i < shown; ++i) {
    const json& peak = peaks[i];
    table.add({{std::to_string(i + 1)},
               {fixed(peak.at("x"), 0)},
               {fixed(peak.at("y"), 0)},
               {fixed(peak.at("z"), 2), style::kBold},
               {fixed(peak.at("phi"), 2)},
               {fixed(peak.at("theta"), 2)},
               {fixed(peak.at("psi"), 2)},
               {fixed(peak.at("relative_defocus"), 0)}});
  }
  context.out() << "\n";
  context.print(table);
  if (shown < peaks.size()) {
    context.out() << "... and " << peaks.size() - shown << " more in the peak list\n";
  }
  context.out() << "x, y: centre in pixels; z: scaled MIP; angles in degrees; defocus in A, "
                   "relative to the micrograph's\n";
}

// Names of files in the result's folder, whole paths of others.
std::string names_of(const json& files, const std::string& folder) {
  std::string names;
  for (const auto& [key, value] : files.items()) {
    if (key.ends_with("_base64")) continue;
    const fs::path path = text_of(files, key);
    const bool inside = path.parent_path() == folder;
    names += (names.empty() ? "" : "  ") + (inside ? path.filename() : path).string();
  }
  return names;
}

void print_files(const Context& context, const json& result) {
  const auto line = [&](const std::string& name, const std::string& value) {
    context.field(name, value, 10);
  };
  const fs::path manifest = text_of(result, "manifest");
  const std::string folder = manifest.parent_path().string();
  context.out() << "\n";
  line("folder", folder);
  json list = json::object();
  api::put_text(list, "peaks", text_of(result, "peaks_csv"));
  line("peak list", names_of(list, folder));
  line("pictures", names_of(result.at("pictures"), folder));
  line("maps", names_of(result.at("maps"), folder));
  line("manifest", manifest.filename().string());
}

std::vector<std::string> files_to_copy(const json& result) {
  std::vector<std::string> files = {text_of(result, "peaks_csv"), text_of(result, "manifest")};
  for (const auto& [key, value] : result.at("pictures").items()) {
    if (!key.ends_with("_base64")) files.push_back(text_of(result.at("pictures"), key));
  }
  return files;
}

void copy_files(const Context& context, const json& result, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw Failure(Exit::kFailed, directory + ": " + error.message());
  // Those of other items may lie in the same folder.
  const json& item = result.at("item");
  const std::string prefix = fs::path(text_of(item, "micrograph")).stem().string() + "_" +
                             std::to_string(item.at("id").get<int64_t>()) + "_";
  for (const std::string& file : files_to_copy(result)) {
    const fs::path target = fs::path(directory) / (prefix + fs::path(file).filename().string());
    if (!fs::copy_file(file, target, error) || error) {
      const std::string why = error ? error.message() : "it exists already";
      throw Failure(Exit::kFailed, "cannot copy " + file + " to " + target.string() + ": " + why);
    }
    if (!context.wants_json()) context.out() << printable(target.string()) << "\n";
  }
}

void print_result(const Context& context, const json& result, bool path_only) {
  if (path_only) {
    const std::string folder = fs::path(text_of(result, "manifest")).parent_path().string();
    context.out() << (context.screen().terminal ? printable(folder) : folder) << "\n";
    return;
  }
  const json& item = result.at("item");
  context.out() << context.styled("item " + std::to_string(item.at("id").get<int64_t>()),
                                  style::kBold)
                << "  " << printable(text_of(item, "micrograph")) << "\n"
                << base::counted(result.at("peaks").get<int64_t>(), "peak")
                << " above z = " << fixed(result.at("cutoff"), 2) << "; best z "
                << fixed(result.at("best_z"), 2) << "; "
                << base::counted(result.at("correlations").get<int64_t>(), "correlation") << " in "
                << duration_text(result.at("seconds")) << "\n";
  print_peaks(context, result.at("peak_list"));
  print_files(context, result);
}

}  // namespace

Exit results(const Context& context, const std::vector<int64_t>& items,
             const ResultOptions& options) {
  json documents = json::array();
  const bool several = items.size() > 1;
  bool first = true;
  const Exit exit = for_each_selected(context, items, [&](int64_t item) {
    const std::string number = std::to_string(item);
    const json answer = context.get("/v1/items/" + number + "/results");
    const json& result = answer.at("result");
    const std::string& folder = options.output_directory;
    if (!folder.empty()) copy_files(context, result, several ? folder + "/" + number : folder);
    if (context.wants_json()) {
      documents.push_back(answer);
    } else if (folder.empty()) {
      if (!std::exchange(first, false) && !options.path_only) context.out() << "\n";
      print_result(context, result, options.path_only);
    }
  });
  return print_documents(context, "results", std::move(documents), items, exit);
}

}  // namespace scheduler::cli
