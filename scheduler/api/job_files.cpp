#include "scheduler/api/job_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/utf8.h"
#include "scheduler/api/json_text.h"

namespace scheduler::api {
namespace {

constexpr size_t kLongestPiece = size_t{256} * 1024;

nlohmann::json paths_there(const nlohmann::json& files) {
  nlohmann::json there = nlohmann::json::object();
  if (!files.is_object()) return there;
  for (const auto& [key, entry] : files.items()) {
    const std::string path = entry.is_string() ? entry.get<std::string>() : entry.value("path", "");
    if (!path.empty() && ::access(path.c_str(), F_OK) == 0) put_text(there, key, path);
  }
  return there;
}

}  // namespace

nlohmann::json progress_of(const db::Attempt& attempt) {
  const std::string path = attempt.directory + "/progress.json";
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return nullptr;
  // The job's user may write anything there: the daemon's memory is not theirs to fill.
  const auto text = file ? base::read_all(file.get(), kLongestPiece) : std::nullopt;
  if (!text) base::throw_errno(path);
  nlohmann::json progress = nlohmann::json::parse(*text, nullptr, false);
  return progress.is_object() ? progress : nlohmann::json(nullptr);
}

nlohmann::json log_piece(const db::Attempt& attempt, int64_t offset) {
  const std::string path = attempt.directory + "/job.log";
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno != ENOENT) base::throw_errno(path);
  struct stat status {};
  if (file && ::fstat(file.get(), &status) != 0) base::throw_errno(path);
  std::optional<std::string> text = "";
  if (offset < status.st_size) {
    if (::lseek(file.get(), offset, SEEK_SET) < 0) base::throw_errno(path);
    const auto rest = static_cast<size_t>(status.st_size - offset);
    text = base::read_all(file.get(), std::min(kLongestPiece, rest));
    if (!text) base::throw_errno(path);
    base::drop_cut_character(*text);  // it waits for the next piece
  }
  nlohmann::json piece = {{"offset", offset},
                          {"next_offset", offset + static_cast<int64_t>(text->size())},
                          {"size", int64_t{status.st_size}}};
  put_text(piece, "text", *text);
  put_text(piece, "path", path);
  return piece;
}

nlohmann::json result_files(const db::Result& result) {
  const nlohmann::json manifest = nlohmann::json::parse(result.manifest_json, nullptr, false);
  nlohmann::json files = {{"maps", nlohmann::json::object()},
                          {"pictures", nlohmann::json::object()}};
  if (!manifest.is_object()) return files;
  if (manifest.contains("outputs")) files["maps"] = paths_there(manifest["outputs"]);
  files["maps"].erase("peaks_csv");
  if (manifest.contains("pictures")) files["pictures"] = paths_there(manifest["pictures"]);
  return files;
}

}  // namespace scheduler::api
