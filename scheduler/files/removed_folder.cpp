#include "scheduler/files/removed_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using Stays = std::function<bool(const std::string&)>;

bool is_real_folder(const fs::path& path) { return fs::is_directory(fs::symlink_status(path)); }

int64_t bytes_of(const fs::path& path) {
  if (is_real_folder(path)) return bytes_in(path.string());
  std::error_code error;  // gone meanwhile
  const bool is_file = fs::is_regular_file(fs::symlink_status(path, error));
  const auto bytes = is_file ? fs::file_size(path, error) : 0;
  return error ? 0 : static_cast<int64_t>(bytes);
}

// The folder `kept` itself stays, and the entries of it that `stays` is true of.
std::vector<fs::path> others(const fs::path& folder, const fs::path& kept, const Stays& stays) {
  std::vector<fs::path> paths;
  if (!is_real_folder(folder)) return paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path() != kept) paths.push_back(entry.path());
  }
  if (!is_real_folder(kept)) return paths;
  for (const auto& entry : fs::directory_iterator(kept)) {
    if (!stays(entry.path().filename().string())) paths.push_back(entry.path());
  }
  return paths;
}

int64_t remove_tree(const fs::path& path) {
  const int64_t bytes = bytes_of(path);
  fs::remove_all(path);
  return bytes;
}

// A shared file system may not delete a file that a node has open: then the folder waits for the
// next try, and is empty but for that.
void remove_if_empty(const fs::path& folder) {
  std::error_code not_empty;
  fs::remove(folder, not_empty);
}

}  // namespace

int64_t bytes_in(const std::string& folder) {
  int64_t bytes = 0;
  if (!is_real_folder(folder)) return 0;
  // Without following links; what may not be looked at is not counted.
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    std::error_code gone;  // meanwhile
    if (entry.is_symlink(gone) || !entry.is_regular_file(gone)) continue;
    const auto size = entry.file_size(gone);
    if (!gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

std::string path_in(const std::string& folder, const std::string& kept) {
  const fs::path path = kept;
  if (path.parent_path() == folder) return kept;
  if (!fs::exists(folder) || !fs::exists(path.parent_path())) return "";
  if (!fs::equivalent(folder, path.parent_path())) return "";
  return (fs::path(folder) / path.filename()).string();
}

int64_t newest_change(const std::string& folder) {
  struct stat facts {};
  int64_t newest = ::lstat(folder.c_str(), &facts) == 0 ? facts.st_mtime : 0;
  if (!is_real_folder(folder)) return newest;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (::lstat(entry.path().c_str(), &facts) != 0) continue;
    newest = std::max<int64_t>(newest, facts.st_mtime);
  }
  return newest;
}

int64_t remove_aside(const std::string& jobs) {
  return remove_tree(fs::path(jobs) / kRemovedFolder);
}

int64_t remove_folder(const std::string& jobs, const std::string& folder_name,
                      const CrashHook& crash) {
  const fs::path aside = fs::path(jobs) / kRemovedFolder;
  std::string name = folder_name;
  std::replace(name.begin(), name.end(), '/', '.');
  const fs::path folder = fs::path(jobs) / folder_name;
  reach(crash, "before-removal");
  fs::create_directories(aside);
  int64_t bytes = remove_tree(aside / name);  // of a removal that was interrupted
  if (fs::exists(fs::symlink_status(folder))) fs::rename(folder, aside / name);
  reach(crash, "moved-for-removal");
  bytes += remove_tree(aside / name);
  remove_if_empty(aside);
  reach(crash, "after-removal");
  return bytes;
}

int64_t remove_all_but(const std::string& jobs, const std::string& name, const std::string& kept,
                       const Stays& stays, const CrashHook& crash) {
  const fs::path aside = fs::path(jobs) / kRemovedFolder / name;
  reach(crash, "before-removal");
  int64_t bytes = remove_tree(aside);  // of a removal that was interrupted
  fs::create_directories(aside);
  for (const fs::path& path : others(fs::path(jobs) / name, kept, stays)) {
    // An attempt's folder and a file of the kept one may have the same name.
    const bool in_kept = path.parent_path() == fs::path(kept);
    fs::rename(path, aside / ((in_kept ? "kept." : "") + path.filename().string()));
  }
  reach(crash, "moved-for-removal");
  bytes += remove_tree(aside);
  remove_if_empty(aside.parent_path());
  reach(crash, "after-removal");
  return bytes;
}

int64_t bytes_besides(const std::string& folder, const std::string& kept, const Stays& stays) {
  int64_t bytes = 0;
  for (const fs::path& path : others(folder, kept, stays)) bytes += bytes_of(path);
  return bytes;
}

}  // namespace scheduler
