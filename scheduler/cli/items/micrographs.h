// From the arguments of `margay enqueue` to open files and their CTF.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/http/unix_socket.h"
#include "scheduler/ingest/listed.h"

namespace scheduler::cli {

// Expands arguments that contain * ? [ and name no file as globs, since the shell does not expand
// quoted ones. The result keeps the order and has no duplicates. Throws Failure for a glob without
// a match.
std::vector<std::string> expand(const std::vector<std::string>& arguments);

struct OpenFile {
  std::string path;  // canonical
  base::Descriptor descriptor;
};
// Throws Failure naming the file when it is missing, not a regular file or not readable.
OpenFile open_file(const std::string& path);

struct CtfOptions {
  std::optional<double> defocus_u;
  std::optional<double> defocus_v;
  std::optional<double> astigmatism_angle;
  std::optional<double> phase_shift;
  std::string pattern;  // pattern for the paths of CTFFIND's text files
  bool same = false;
};

// Throws Failure (usage) when options are incomplete, contradict each other, or would give several
// files one CTF unasked. Called before anything is sent.
void check(const CtfOptions& options, size_t files);
// As check(), for files that do not exist yet.
void check_for_files_to_come(const CtfOptions& options);
// The micrograph's CTF, and the optics that its CTF file names. Throws Failure naming the
// micrograph and the CTF file.
ingest::CtfAndOptics ctf_of(const CtfOptions& options, const std::string& micrograph);

// Returns for example "defocus_u is 1.02 A: is it in um? 1 um is 10000 A"; empty: nothing is
// doubtful. Of a phase shift only one that the user `typed` may be in the wrong unit: a file says
// which its values have.
std::string doubt_of(const db::Ctf& ctf, bool typed);

}  // namespace scheduler::cli
