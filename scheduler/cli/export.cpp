#include "scheduler/cli/export.h"

#include <filesystem>
#include <ostream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/text.h"
#include "scheduler/cli/particles.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

void write(const std::string& path, const std::string& text) {
  try {
    base::write_file_atomically(path, text);
  } catch (const base::FileError& error) {
    throw Failure(Exit::kFailed, error.what());
  }
}

}  // namespace

Exit export_peaks(const Context& context, const ExportOptions& options) {
  std::vector<PeakList> lists;
  Tally tally;
  int64_t peaks = 0;
  for (const int64_t item : options.items) {
    try {
      const json result =
          context.get("/v1/items/" + std::to_string(item) + "/results?csv=1").at("result");
      lists.push_back({.csv = text_of(result, "csv"), .name = "item " + std::to_string(item)});
      peaks += result.at("peaks").get<int64_t>();
      tally.succeeded();
    } catch (const Failure& failure) {
      if (failure.passes()) throw;
      context.complain(failure.what());
      tally.failed(failure.exit());
    }
  }
  if (lists.empty()) {
    throw Failure(Exit::kNotFound, "none of these items has a result");
  }
  std::error_code error;
  const std::string project =
      options.project.empty() ? "" : std::filesystem::canonical(options.project, error).string();
  if (error) throw Failure(Exit::kNotFound, options.project + ": " + error.message());
  if (!options.star.empty()) write(options.star, particles_star(lists, project));
  if (!options.csv.empty()) write(options.csv, joined_csv(lists));
  const json document = {{"items", lists.size()}, {"peaks", peaks}, {"left_out", tally.failures()}};
  if (context.print_if_json(document)) return tally.exit();
  context.out() << base::counted(peaks, "peak") << " of "
                << base::counted(static_cast<int64_t>(lists.size()), "item") << "\n";
  return tally.exit();
}

}  // namespace scheduler::cli
