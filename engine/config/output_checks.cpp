// Implements check_outputs, check_ending and check_output_file of input_checks.h: folders, disk
// space, names and existing files.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/file_ending.h"
#include "base/size_text.h"
#include "engine/config/input_checks.h"
#include "engine/config/named_maps.h"
#include "engine/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

// A file to be written and the field that asks for it.
struct Target {
  std::string field;
  std::string path;
};

[[noreturn]] void refuse(const Target& target, const std::string& problem) {
  throw InputError(target.field + ": '" + target.path + "' " + problem);
}

// The maps and the peak list.
std::vector<Target> result_targets(const SearchConfig& config, const OutputChecks& options) {
  std::vector<Target> targets;
  for (const auto& [name, path] : kMaps) {
    targets.push_back(
        {std::string("match_template_result.") + name + "_path", config.results.*path});
  }
  if (!options.csv_path.empty()) targets.push_back({"--output", options.csv_path});
  return targets;
}

std::vector<Target> all_targets(const SearchConfig& config, const std::string& manifest_path,
                                const OutputChecks& options) {
  std::vector<Target> targets = result_targets(config, options);
  for (const auto& [option, path] : options.other_files) targets.push_back({option, path});
  if (!manifest_path.empty()) targets.push_back({"manifest", manifest_path});
  return targets;
}

// The folder of `target` or, where it does not exist yet, the nearest one above it that does.
fs::path nearest_existing_folder(const Target& target) {
  fs::path folder = base::folder_of(target.path);
  for (;;) {
    struct stat status = {};
    if (::stat(folder.c_str(), &status) == 0) {
      if (S_ISDIR(status.st_mode)) return folder;
      refuse(target, "cannot be written: '" + folder.string() + "' is not a folder");
    }
    if (errno != ENOENT && errno != ENOTDIR) {
      refuse(target, "cannot be written: folder '" + folder.string() +
                         "' cannot be reached: " + std::strerror(errno));
    }
    fs::path above = folder.parent_path();
    if (above.empty() || above == folder) above = folder.is_absolute() ? "/" : ".";
    folder = std::move(above);
  }
}

void check_room(const Target& target, const fs::path& folder, uint64_t bytes_needed) {
  if (bytes_needed == 0) return;
  struct statvfs room = {};
  if (::statvfs(folder.c_str(), &room) != 0) {
    refuse(target, "cannot be checked for disk space: " + std::string(std::strerror(errno)));
  }
  const uint64_t free_bytes = static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
  if (free_bytes >= bytes_needed) return;
  refuse(target, "has too little disk space: " + base::megabytes_needed(bytes_needed) +
                     " are needed, '" + folder.string() + "' has " +
                     base::megabytes_free(free_bytes) +
                     " free; make room or choose another folder");
}

void check_target(const Target& target, uint64_t bytes_needed) {
  struct stat status = {};
  if (::stat(target.path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) refuse(target, "exists and is not a regular file");
  } else if (errno == ENAMETOOLONG || errno == ELOOP) {
    refuse(target, "cannot be written: " + std::string(std::strerror(errno)));
  }
  const fs::path folder = nearest_existing_folder(target);
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    refuse(target, "cannot be written: folder '" + folder.string() +
                       "' is not writable: " + std::strerror(errno));
  }
  check_room(target, folder, bytes_needed);
}

// The same file under two names is found through links and "..", too.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;  // an unreachable path is refused by check_target
  if (fs::equivalent(a, b, ignored)) return true;
  const fs::path first = fs::weakly_canonical(fs::absolute(a, ignored), ignored);
  const fs::path second = fs::weakly_canonical(fs::absolute(b, ignored), ignored);
  return !first.empty() && first == second;
}

void check_distinct(const std::vector<Target>& targets, const SearchConfig& config) {
  std::vector<Target> others = {{"micrograph_path", config.micrograph_path},
                                {"template_volume_path", config.template_volume_path}};
  if (!config.path.empty()) others.push_back({"configuration", config.path});
  for (const Target& target : targets) {
    for (const Target& other : others) {
      if (same_file(target.path, other.path)) {
        refuse(target, "is the same file as " + other.field + ", which it would replace");
      }
    }
    others.push_back(target);
  }
}

}  // namespace

void check_outputs(const SearchConfig& config, const std::string& manifest_path,
                   const OutputChecks& options) {
  const std::vector<Target> targets = all_targets(config, manifest_path, options);
  for (const Target& target : targets) check_target(target, options.bytes_needed);
  check_distinct(targets, config);
  if (manifest_path.empty() || options.overwrite || config.results.allow_file_overwrite) return;
  std::error_code ignored;
  if (fs::exists(manifest_path, ignored)) {
    throw InputError(
        "manifest '" + manifest_path +
        "' exists: a finished search is there already; name other maps in the configuration "
        "(match_template_result) and another peak list (--output DIR/NAME.csv), use "
        "--overwrite, or set match_template_result.allow_file_overwrite to true");
  }
  if (!options.refuse_results) return;
  for (const Target& target : result_targets(config, options)) {
    if (!fs::exists(target.path, ignored)) continue;
    refuse(target,
           "already exists; choose another name, use --overwrite, or set "
           "match_template_result.allow_file_overwrite to true");
  }
}

void check_ending(const std::string& option, const std::string& path, Written written) {
  const std::string problem = written == Written::kCsv
                                  ? base::wrong_ending(path, "CSV", {".csv"})
                                  : base::wrong_ending(path, "MRC", {".mrc", ".mrcs"});
  if (!problem.empty()) throw UsageError(option + ": " + problem);
}

void check_output_file(const std::string& option, const std::string& path, bool overwrite,
                       const std::vector<std::string>& others) {
  const Target target = {option, path};
  for (const std::string& other : others) {
    if (!other.empty() && same_file(path, other)) {
      refuse(target, "is the same file as '" + other + "' of this command; choose another name");
    }
  }
  std::error_code ignored;  // what cannot be seen fails when it is written
  if (!overwrite && fs::exists(path, ignored)) {
    refuse(target, "already exists; choose another name or use --overwrite");
  }
}

}  // namespace engine
