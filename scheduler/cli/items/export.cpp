#include "scheduler/cli/items/export.h"

#include <filesystem>
#include <ostream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/file_ending.h"
#include "base/hex.h"
#include "base/text.h"
#include "scheduler/cli/items/particles.h"

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

void check_ending(const std::string& option, const std::string& path, const std::string& kind,
                  const std::string& ending) {
  const std::string problem = base::wrong_ending(path, kind, {ending});
  if (!problem.empty()) throw Failure(Exit::kUsage, option + ": " + problem);
}

}  // namespace

void check_names(const ExportOptions& options) {
  check_ending("--star", options.star, "STAR", ".star");
  check_ending("--csv", options.csv, "CSV", ".csv");
}

Exit export_peaks(const Context& context, const ExportOptions& options) {
  std::error_code error;
  const std::string project =
      options.project.empty() ? "" : std::filesystem::canonical(options.project, error).string();
  if (error) throw Failure(Exit::kNotFound, options.project + ": " + error.message());
  ParticlesStar particles(project);
  JoinedCsv table;
  Tally tally;
  int64_t peaks = 0;
  for (const int64_t item : options.items) {
    json result;
    try {
      result = context.get("/v1/items/" + std::to_string(item) + "/results?csv=1").at("result");
    } catch (const Failure& failure) {
      if (failure.passes()) throw;
      context.complain(failure.what());
      tally.failed(failure.exit());
      continue;
    }
    const PeakList list{.csv = text_of(result, "csv"), .name = "item " + std::to_string(item)};
    if (!options.star.empty()) particles.add(list);
    if (!options.csv.empty()) table.add(list);
    peaks += result.at("peaks").get<int64_t>();
    tally.succeeded();
  }
  if (tally.successes() == 0) {
    throw Failure(tally.failures() == 0 ? Exit::kNotFound : tally.exit(),
                  "there are no peaks of these items to write");
  }
  if (!options.star.empty()) write(options.star, particles.text());
  if (!options.csv.empty()) write(options.csv, table.text());
  const json document = {
      {"items", tally.successes()}, {"peaks", peaks}, {"left_out", tally.failures()}};
  if (context.print_if_json(document)) return tally.exit();
  context.out() << base::counted(peaks, "peak") << " of "
                << base::counted(tally.successes(), "item") << "\n";
  return tally.exit();
}

}  // namespace scheduler::cli
