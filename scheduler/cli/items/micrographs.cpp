#include "scheduler/cli/items/micrographs.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <sstream>
#include <unordered_set>

#include "base/ctf_doubts.h"
#include "scheduler/cli/terminal/exit.h"
#include "scheduler/ingest/ctffind.h"

namespace scheduler::cli {
namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_ERR, nullptr, &found);
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, ::globfree);
  if (code == GLOB_NOMATCH) {
    throw Failure(Exit::kNotFound, "no file matches '" + pattern + "'");
  }
  if (code != 0) {
    throw Failure(Exit::kFailed, pattern + ": cannot read the folder: " + std::strerror(errno));
  }
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

Exit exit_of_errno(int error) {
  if (error == ENOENT || error == ENOTDIR) return Exit::kNotFound;
  if (error == EACCES || error == EPERM) return Exit::kNotPermitted;
  return Exit::kFailed;
}

[[noreturn]] void usage(const std::string& message) { throw Failure(Exit::kUsage, message); }

bool gives_values(const CtfOptions& options) {
  return options.defocus_u || options.defocus_v || options.astigmatism_angle || options.phase_shift;
}

// Whether every file gets the same CTF though nobody asked for that.
bool is_one_for_all(const CtfOptions& options) {
  return !options.same && (gives_values(options) || ingest::pattern_is_constant(options.pattern));
}

}  // namespace

std::vector<std::string> expand(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  std::unordered_set<std::string> seen;
  for (const std::string& argument : arguments) {
    const bool pattern = argument.find_first_of("*?[") != std::string::npos && !exists(argument);
    for (const std::string& file :
         pattern ? matches(argument) : std::vector<std::string>{argument}) {
      if (seen.insert(file).second) files.push_back(file);
    }
  }
  return files;
}

OpenFile open_file(const std::string& path) {
  // O_NONBLOCK: a named pipe must not keep us waiting before it is refused.
  base::Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor) {
    throw Failure(exit_of_errno(errno), path + ": cannot open it: " + std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) {
    throw Failure(Exit::kFailed, path + ": " + std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    throw Failure(Exit::kFailed, path + " is a folder; give its files, e.g. '" +
                                     (std::filesystem::path(path) / "*.mrc").string() + "'");
  }
  if (!S_ISREG(status.st_mode)) {
    throw Failure(Exit::kFailed, path + " is not a regular file");
  }
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  if (error) throw Failure(Exit::kFailed, path + ": " + error.message());
  return {.path = canonical.string(), .descriptor = std::move(descriptor)};
}

void check(const CtfOptions& options, size_t files) {
  const bool values = gives_values(options);
  if (values && !options.pattern.empty()) {
    usage("--ctf reads the values from files; give either --ctf or --defocus-u and the others");
  }
  if (!values && options.pattern.empty()) {
    usage(
        "no CTF: give --ctf '{dir}/{stem}_ctf.txt' (CTFFIND's text files) or --defocus-u, "
        "--defocus-v and --astigmatism-angle");
  }
  if (values && !(options.defocus_u && options.defocus_v)) {
    usage("--defocus-u and --defocus-v must be given together (in A; equal without astigmatism)");
  }
  if (values && *options.defocus_u != *options.defocus_v && !options.astigmatism_angle) {
    usage("missing --astigmatism-angle: it is needed when --defocus-u and --defocus-v differ");
  }
  if (files > 1 && is_one_for_all(options)) {
    usage("one CTF for " + std::to_string(files) +
          " files: use --ctf with {stem} or {name}, or give --same-ctf if they share one");
  }
}

void check_for_files_to_come(const CtfOptions& options) {
  check(options, 1);
  if (!is_one_for_all(options)) return;
  usage(
      "one CTF for all files of the watch: use --ctf with {stem} or {name}, or give --same-ctf if "
      "they share one");
}

ingest::CtfAndOptics ctf_of(const CtfOptions& options, const std::string& micrograph) {
  if (options.pattern.empty()) {
    db::Ctf ctf;
    ctf.defocus_u = options.defocus_u.value_or(0);
    ctf.defocus_v = options.defocus_v.value_or(0);
    ctf.astigmatism_angle = options.astigmatism_angle.value_or(0);
    ctf.phase_shift = options.phase_shift.value_or(0);
    ctf.source = "option";
    return {.ctf = ctf};
  }
  try {
    const std::string file = ingest::expand_pattern(options.pattern, micrograph);
    return ingest::read_ctffind(std::filesystem::absolute(file).string());
  } catch (const ingest::IngestError& error) {
    throw Failure(Exit::kFailed, micrograph + ": " + error.what());
  }
}

std::string doubt_of(const db::Ctf& ctf, bool typed) {
  const auto said = [](const char* name, double value, const char* unit, const std::string& doubt) {
    std::ostringstream text;
    text << std::setprecision(7) << name << " is " << value << unit << ": " << doubt;
    return text.str();
  };
  if (const std::string doubt = base::defocus_doubt(ctf.defocus_u); !doubt.empty()) {
    return said("defocus_u", ctf.defocus_u, " A", doubt);
  }
  if (const std::string doubt = base::defocus_doubt(ctf.defocus_v); !doubt.empty()) {
    return said("defocus_v", ctf.defocus_v, " A", doubt);
  }
  const std::string doubt = typed ? base::phase_shift_doubt(ctf.phase_shift) : "";
  return doubt.empty() ? "" : said("phase_shift", ctf.phase_shift, " degrees", doubt);
}

}  // namespace scheduler::cli
