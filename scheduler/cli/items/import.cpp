#include "scheduler/cli/items/import.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/size_text.h"
#include "base/untrusted_file.h"
#include "scheduler/ingest/parse_list.h"

namespace scheduler::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestList = size_t{1} << 30;  // bytes

std::string read_list(const std::string& path) {
  try {
    std::optional<base::OpenFile> file = base::open_untrusted(fs::canonical(path).string());
    if (!file) throw Failure(Exit::kNotFound, path + ": no such file");
    return base::read_whole(*file, kLongestList, path);
  } catch (const fs::filesystem_error& error) {
    throw Failure(Exit::kNotFound, path + ": cannot read it: " + error.code().message());
  } catch (const base::UnfitFile& error) {
    throw Failure(Exit::kFailed, error.what());
  } catch (const base::FileError& error) {
    throw Failure(Exit::kFailed, error.what());
  }
}

std::vector<ingest::ListedMicrograph> parse(const std::string& path) {
  const std::string bytes = read_list(path);
  try {
    return ingest::parse_list(bytes, fs::canonical(path).string());
  } catch (const ingest::IngestError& error) {
    throw Failure(Exit::kFailed, error.what());
  }
}

}  // namespace

std::string project_folder(const std::string& list,
                           const std::vector<ingest::ListedMicrograph>& micrographs) {
  const fs::path own = fs::canonical(list).parent_path();
  for (const ingest::ListedMicrograph& micrograph : micrographs) {
    const fs::path path = micrograph.path;
    if (!micrograph.refused.empty() || path.is_absolute()) continue;
    for (fs::path folder = own;; folder = folder.parent_path()) {
      std::error_code ignored;  // a folder that cannot be searched does not hold it
      if (fs::exists(folder / path, ignored)) return folder.string();
      if (folder == folder.root_path()) return own.string();
    }
  }
  return own.string();
}

Exit import_list(const Context& context, const ImportOptions& options) {
  std::vector<ingest::ListedMicrograph> listed = parse(options.list);
  if (listed.empty()) throw Failure(Exit::kFailed, options.list + ": lists no micrographs");
  const fs::path project =
      options.project.empty() ? project_folder(options.list, listed) : options.project;
  std::vector<WantedMicrograph> wanted;
  for (ingest::ListedMicrograph& micrograph : listed) {
    const std::string path =
        micrograph.path.empty() ? "" : (project / micrograph.path).lexically_normal().string();
    wanted.push_back({.path = path,
                      .place = options.list + ": " + micrograph.place,
                      .ctf = std::move(micrograph.ctf),
                      .optics = micrograph.optics,
                      .refused = std::move(micrograph.refused)});
  }
  return enqueue_all(context, options.enqueue, wanted);
}

}  // namespace scheduler::cli
