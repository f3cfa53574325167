// From the arguments of `margay enqueue` to open files and their CTF.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/api/unix_socket.h"

namespace scheduler::cli {

// Expands arguments with * ? [ that name no file as globs (the shell leaves quoted ones to us). In
// order, without repetition. Throws Failure for a glob without a match.
std::vector<std::string> expand(const std::vector<std::string>& arguments);

struct OpenFile {
  std::string path;  // canonical
  base::Descriptor descriptor;
};
// Throws Failure naming the file: not there, not a regular file, not readable.
OpenFile open_file(const std::string& path);

struct CtfOptions {
  std::optional<double> defocus_u;
  std::optional<double> defocus_v;
  std::optional<double> astigmatism_angle;
  std::optional<double> phase_shift;
  std::string pattern;  // of CTFFIND's text files
  bool same = false;
};

// Throws Failure (usage) when options are incomplete, contradict each other, or would give several
// files one CTF unasked. Called before anything is sent.
void check(const CtfOptions& options, size_t files);
// The same for files that are still to come.
void check_for_files_to_come(const CtfOptions& options);
// Throws Failure naming the micrograph and the CTF file.
db::Ctf ctf_of(const CtfOptions& options, const std::string& micrograph);

}  // namespace scheduler::cli
