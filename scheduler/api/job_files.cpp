#include "scheduler/api/job_files.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/untrusted_file.h"
#include "base/utf8.h"
#include "scheduler/http/json_text.h"
#include "scheduler/results/job_json.h"

namespace scheduler::api {
namespace {

constexpr size_t kLongestPiece = size_t{256} * 1024;
constexpr size_t kLongestWord = 64;        // of a report's state and time
constexpr double kLargestReported = 1e15;  // readers turn times and counts into 64 bits

// Whoever wrote the manifest may name any path, and must not learn here what is there.
bool is_own_file(const std::filesystem::path& path, const std::filesystem::path& folder) {
  std::error_code error;  // then there is no file to name
  return path.parent_path() == folder &&
         std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error));
}

nlohmann::json paths_there(const nlohmann::json& files, const std::filesystem::path& folder) {
  nlohmann::json there = nlohmann::json::object();
  if (!files.is_object()) return there;
  for (const auto& [key, entry] : files.items()) {
    const bool named = entry.is_string();
    const auto path = named ? std::optional(entry.get<std::string>()) : get_text(entry, "path");
    if (path && is_own_file(*path, folder)) put_text(there, key, *path);
  }
  return there;
}

// Of what the engine reports, what is of the engine's type: the job's user may write anything.
nlohmann::json reported(const nlohmann::json& file) {
  nlohmann::json progress = nlohmann::json::object();
  for (const char* key : {"done", "total", "rate", "eta_seconds", "best_z"}) {
    const auto found = file.find(key);
    if (found == file.end() || !found->is_number()) continue;
    if (std::abs(found->get<double>()) <= kLargestReported) progress[key] = *found;
  }
  for (const char* key : {"state", "time"}) {
    const auto text = get_text(file, key);
    if (text && text->size() <= kLongestWord) put_text(progress, key, *text);
  }
  return progress;
}

}  // namespace

void put_progress(const db::Attempt& attempt, nlohmann::json& entry) {
  entry["progress"] = nullptr;
  const auto refuse = [&](const std::exception& error) {
    put_text(entry, "progress_problem", error.what());
  };
  try {
    const auto file = read_job_json(attempt.directory, "progress.json", kLongestProgress);
    if (file && file->is_object()) entry["progress"] = reported(*file);
  } catch (const base::UnfitFile& error) {
    refuse(error);
  } catch (const base::FileError& error) {
    refuse(error);
  }
}

nlohmann::json log_piece(const db::Attempt& attempt, int64_t offset) {
  const std::string path = attempt.directory + "/job.log";
  const auto file = base::open_untrusted_in(attempt.directory, "job.log");
  const int64_t size = file ? file->size : 0;
  std::optional<std::string> text = "";
  if (offset < size) {
    if (::lseek(file->descriptor.get(), offset, SEEK_SET) < 0) base::throw_errno(path);
    const auto rest = static_cast<size_t>(size - offset);
    text = base::read_all(file->descriptor.get(), std::min(kLongestPiece, rest));
    if (!text) base::throw_errno(path);
    base::drop_cut_character(*text);  // it waits for the next piece
  }
  nlohmann::json piece = {{"offset", offset},
                          {"next_offset", offset + static_cast<int64_t>(text->size())},
                          {"size", size}};
  put_text(piece, "text", *text);
  put_text(piece, "path", path);
  return piece;
}

nlohmann::json result_files(const db::Result& result) {
  const nlohmann::json manifest = nlohmann::json::parse(result.manifest_json, nullptr, false);
  nlohmann::json files = {{"maps", nlohmann::json::object()},
                          {"pictures", nlohmann::json::object()}};
  if (!manifest.is_object()) return files;
  const std::filesystem::path folder = std::filesystem::path(result.manifest_path).parent_path();
  if (manifest.contains("outputs")) files["maps"] = paths_there(manifest["outputs"], folder);
  files["maps"].erase("peaks_csv");
  if (manifest.contains("pictures")) files["pictures"] = paths_there(manifest["pictures"], folder);
  return files;
}

}  // namespace scheduler::api
