#include "scheduler/api/job_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "scheduler/api/unix_socket.h"
#include "scheduler/api/json_text.h"

namespace scheduler::api {
namespace {

constexpr int64_t kLongestPiece = 256 * 1024;

[[noreturn]] void refuse(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

// An open file and its size; closed when there is no such file.
Descriptor open_if_there(const std::string& path, int64_t& size) {
  size = 0;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return file;
    refuse(path);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) refuse(path);
  size = status.st_size;
  return file;
}

std::string read_at(const Descriptor& file, const std::string& path, int64_t offset, int64_t most) {
  std::string bytes(static_cast<size_t>(most), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::pread(file.get(), bytes.data() + filled, bytes.size() - filled,
                                  offset + static_cast<int64_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path);
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

// A character cut in two at the end waits for the next piece.
void drop_cut_character(std::string& text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return;
    if (byte < 0xC0) continue;
    const size_t needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    if (needed > back && text.size() > back) text.resize(text.size() - back);
    return;
  }
}

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

std::string read_file(const std::string& path) {
  int64_t size = 0;
  const Descriptor file = open_if_there(path, size);
  if (!file) refuse(path);
  return read_at(file, path, 0, size);
}

nlohmann::json progress_of(const db::Attempt& attempt) {
  const std::string path = attempt.directory + "/progress.json";
  int64_t size = 0;
  const Descriptor file = open_if_there(path, size);
  if (!file) return nullptr;
  const std::string text = read_at(file, path, 0, std::min(size, kLongestPiece));
  nlohmann::json progress = nlohmann::json::parse(text, nullptr, false);
  return progress.is_object() ? progress : nlohmann::json(nullptr);
}

nlohmann::json log_piece(const db::Attempt& attempt, int64_t offset) {
  const std::string path = attempt.directory + "/job.log";
  int64_t size = 0;
  const Descriptor file = open_if_there(path, size);
  std::string text;
  if (file && offset < size) {
    text = read_at(file, path, offset, std::min(kLongestPiece, size - offset));
    drop_cut_character(text);
  }
  nlohmann::json piece = {{"offset", offset},
                          {"next_offset", offset + static_cast<int64_t>(text.size())},
                          {"size", size}};
  put_text(piece, "text", text);
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
