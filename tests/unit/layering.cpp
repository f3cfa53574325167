#include "tests/unit/layering.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace tests {
namespace {

using Strings = std::vector<std::string>;

// Each of our folders and the folders that it may include.
const std::map<std::string, Strings>& our_folders() {
  static const std::map<std::string, Strings> folders = {
      {"engine", {"engine"}},
      {"db", {"db"}},
      {"slurm", {"slurm"}},
      {"scheduler", {"scheduler", "db", "slurm"}},
      {"tests", {"tests", "bench", "engine", "db", "slurm", "scheduler"}},
      {"bench", {"bench", "engine", "db", "slurm", "scheduler"}},
  };
  return folders;
}

struct ThirdParty {
  std::string header;  // what the name in the #include begins with
  Strings places;      // what the path of a file that includes it begins with
};

const std::vector<ThirdParty>& third_parties() {
  static const std::vector<ThirdParty> headers = {
      {"sqlite3", {"db/sqlite."}},
      {"SQLiteCpp/", {"db/sqlite."}},
      {"curl/", {"slurm/http."}},
      {"fftw3", {"engine/cpu/"}},
      {"hwy/", {"engine/cpu/", "tests/unit/engine/kernels_test."}},
      {"cuda", {"engine/cuda/", "engine/comm/nccl.", "bench/gpu_device."}},
      {"cufft", {"engine/cuda/"}},
      {"gloo/", {"engine/comm/gloo."}},
      {"nccl.h", {"engine/comm/nccl."}},
      {"cairo", {"engine/picture", "tests/unit/engine/pictures_test."}},
      {"openssl/", {"engine/sha256.", "scheduler/files."}},
      {"kainjow/", {"scheduler/script."}},
      {"httplib", {"scheduler/api/", "scheduler/cli/", "tests/fakes/"}},
      {"CLI/",
       {"engine/margay_engine.", "engine/command", "scheduler/margayd.", "scheduler/margay.",
        "scheduler/cli/"}},
      {"yaml-cpp/", {"engine/config", "scheduler/config", "scheduler/engine_config.", "tests/"}},
      {"spdlog/",
       {"scheduler/margayd.", "scheduler/daemon", "scheduler/api/", "scheduler/ingest/"}},
      {"nlohmann/",
       {"engine/manifest.", "engine/progress.", "engine/checkpoint.", "engine/command_",
        "engine/scale_table.", "scheduler/job_comment.", "scheduler/results.", "scheduler/margay.",
        "scheduler/api/", "scheduler/cli/", "slurm/rest_json", "slurm/access_token.",
        "bench/gpu_report.", "tests/"}},
      {"gtest/", {"tests/"}},
      {"gmock/", {"tests/"}},
      {"benchmark/", {"bench/"}},
  };
  return headers;
}

bool begins_with_one_of(const std::string& text, const Strings& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& b) { return text.starts_with(b); });
}

bool is_system_header(const std::string& name) {
  if (name.find('.') == std::string::npos && name.find('/') == std::string::npos) return true;
  static const std::set<std::string> posix = {
      "dirent.h", "dlfcn.h",    "endian.h", "errno.h",   "fcntl.h", "fnmatch.h", "glob.h",
      "grp.h",    "link.h",     "poll.h",   "pthread.h", "pwd.h",   "sched.h",   "signal.h",
      "spawn.h",  "termios.h",  "time.h",   "unistd.h",  "cpuid.h", "fnmatch.h", "immintrin.h",
      "math.h",   "ucontext.h", "netdb.h",  "ifaddrs.h", "net/if.h"};
  return posix.count(name) > 0 || begins_with_one_of(name, {"sys/", "linux/", "arpa/", "netinet/"});
}

std::string first_folder(const std::string& path) { return path.substr(0, path.find('/')); }

// The fault of one include, or nothing.
std::string fault_of(const std::string& path, const std::string& name, bool quoted) {
  const std::string from = first_folder(path);
  const std::string to = first_folder(name);
  if (our_folders().count(to) > 0 && to != name) {
    const Strings& allowed = our_folders().at(from);
    if (!quoted) return "our own headers are included with quotes";
    if (std::find(allowed.begin(), allowed.end(), to) == allowed.end()) {
      return from + "/ may not include " + to + "/";
    }
    return "";
  }
  for (const ThirdParty& third : third_parties()) {
    if (!name.starts_with(third.header)) continue;
    return begins_with_one_of(path, third.places) ? "" : "this header belongs elsewhere";
  }
  if (quoted) return "includes start at the root";
  return is_system_header(name) ? "" : "an unknown header: give it its place in layering.cpp";
}

struct Include {
  std::string name;
  bool quoted = false;
};

// Of a line `# include "name"` or `<name>`, blanks anywhere; nothing for another line. (By hand:
// std::regex does not compile without warnings under the sanitizers of GCC 12.)
std::optional<Include> include_of(const std::string& line) {
  size_t at = 0;
  const auto skip_blanks = [&] { at = std::min(line.find_first_not_of(" \t", at), line.size()); };
  const auto take = [&](const std::string& word) {
    skip_blanks();
    if (line.compare(at, word.size(), word) != 0) return false;
    at += word.size();
    return true;
  };
  if (!take("#") || !take("include")) return std::nullopt;
  const bool quoted = take("\"");
  if (!quoted && !take("<")) return std::nullopt;
  const size_t end = line.find(quoted ? '"' : '>', at);
  if (end == std::string::npos) return std::nullopt;
  return Include{line.substr(at, end - at), quoted};
}

}  // namespace

std::vector<std::string> layering_faults(const std::string& path, const std::string& text) {
  std::vector<std::string> faults;
  if (our_folders().count(first_folder(path)) == 0) {
    return {path + ": not in one of our folders"};
  }
  bool once = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    once = once || line.starts_with("#pragma once");
    const std::optional<Include> include = include_of(line);
    if (!include) continue;
    const std::string fault = fault_of(path, include->name, include->quoted);
    if (!fault.empty()) faults.push_back(path + ": " + line + ": " + fault);
  }
  if (path.ends_with(".h") && !once) faults.push_back(path + ": has no #pragma once");
  return faults;
}

}  // namespace tests
