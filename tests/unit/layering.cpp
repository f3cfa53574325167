#include "tests/unit/layering.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace tests {
namespace {

using Strings = std::vector<std::string>;

struct Room {
  std::string folder;
  Strings lower;  // the rooms that its files may include, besides itself and `base`
};

// From the top floor down. A top folder by itself is its root: the few headers there include
// nothing of the project but `base`, and every room above them may include them.
const std::vector<Room>& rooms() {
  static const std::vector<Room> all = {
      {"engine/commands",
       {"engine", "engine/search", "engine/ranks", "engine/comm", "engine/launch", "engine/results",
        "engine/pictures", "engine/cpu", "engine/cpu/fused", "engine/cuda", "engine/cuda/fused",
        "engine/backend", "engine/numerics", "engine/config", "engine/io"}},
      {"engine/search",
       {"engine", "engine/ranks", "engine/comm", "engine/launch", "engine/results",
        "engine/pictures", "engine/cpu", "engine/cpu/fused", "engine/cuda", "engine/cuda/fused",
        "engine/backend", "engine/numerics", "engine/config", "engine/io"}},
      {"engine/ranks",
       {"engine", "engine/comm", "engine/launch", "engine/backend", "engine/numerics"}},
      {"engine/comm", {"engine", "engine/io", "engine/launch"}},
      {"engine/launch", {"engine", "engine/io"}},
      {"engine/results",
       {"engine", "engine/backend", "engine/config", "engine/io", "engine/numerics"}},
      {"engine/pictures", {"engine", "engine/io", "engine/numerics"}},
      {"engine/cpu/fused",
       {"engine", "engine/cpu", "engine/backend", "engine/numerics", "engine/io"}},
      {"engine/cpu", {"engine", "engine/backend", "engine/numerics"}},
      {"engine/cuda/fused", {"engine", "engine/cuda", "engine/backend", "engine/numerics"}},
      {"engine/cuda", {"engine", "engine/backend", "engine/numerics"}},
      {"engine/backend", {"engine", "engine/numerics"}},
      {"engine/numerics", {"engine", "engine/config", "engine/io"}},
      {"engine/config", {"engine", "engine/io"}},
      {"engine/io", {"engine"}},
      {"engine", {}},

      {"scheduler/process",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/cli", "scheduler/cli/terminal",
        "scheduler/api", "scheduler/http", "scheduler/doctor", "scheduler/daemon",
        "scheduler/results", "scheduler/commands", "scheduler/config", "scheduler/script",
        "scheduler/files"}},
      {"scheduler/cli",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/cli/items", "scheduler/cli/terminal",
        "scheduler/api", "scheduler/http", "scheduler/config", "scheduler/files",
        "scheduler/charts", "scheduler/simulate"}},
      {"scheduler/cli/items",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/cli/terminal", "scheduler/api",
        "scheduler/http", "scheduler/ingest"}},
      {"scheduler/cli/terminal",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/http", "scheduler/config"}},
      {"scheduler/api",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/http", "scheduler/daemon",
        "scheduler/results", "scheduler/commands"}},
      {"scheduler/http", {"scheduler"}},
      {"scheduler/doctor",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/config", "scheduler/script",
        "scheduler/files"}},
      {"scheduler/daemon",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/results", "scheduler/commands",
        "scheduler/policy", "scheduler/forecast", "scheduler/states", "scheduler/config",
        "scheduler/script", "scheduler/files", "scheduler/ingest"}},
      {"scheduler/results",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/commands", "scheduler/policy",
        "scheduler/forecast", "scheduler/states", "scheduler/config", "scheduler/script",
        "scheduler/files"}},
      {"scheduler/commands",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/policy", "scheduler/forecast",
        "scheduler/states", "scheduler/config", "scheduler/script", "scheduler/files"}},
      {"scheduler/simulate",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/policy", "scheduler/forecast",
        "scheduler/config"}},
      {"scheduler/charts", {"scheduler"}},
      {"scheduler/ingest", {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/files"}},
      {"scheduler/policy",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/forecast", "scheduler/states",
        "scheduler/config"}},
      {"scheduler/forecast", {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/config"}},
      {"scheduler/states", {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/config"}},
      {"scheduler/script",
       {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/config", "scheduler/files"}},
      {"scheduler/config", {"scheduler", "db", "slurm", "slurm/sbatch", "scheduler/files"}},
      {"scheduler/files", {"scheduler", "db", "slurm", "slurm/sbatch"}},
      {"scheduler", {}},

      {"slurm/rest", {"slurm", "slurm/sbatch"}},
      {"slurm/commands", {"slurm", "slurm/sbatch"}},
      {"slurm/local", {"slurm", "slurm/sbatch", "slurm/job"}},
      {"slurm/sbatch", {"slurm"}},
      {"slurm/job", {}},
      {"slurm", {}},

      {"db", {}},
      {"base", {}},
  };
  return all;
}

// Files that may include what their rooms may not: the beginning of their path, and of what.
struct Exception {
  std::string file;
  std::string may_include;
};

const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> all = {
      {"engine/margay_engine.cpp", "engine/"},
      {"scheduler/margayd.cpp", "scheduler/"},
      {"scheduler/margay.cpp", "scheduler/"},
      // The one place that makes clusters, of every kind.
      {"scheduler/daemon/make_cluster.", "slurm/"},
      // Its ranks compute on devices.
      {"engine/comm/nccl.", "engine/cuda/"},
  };
  return all;
}

// Folders that no room of another folder may include, and that may include everything.
bool is_outside(const std::string& folder) { return folder == "tests" || folder == "bench"; }

// Margay's header that includes a library's counts as the library's header.
struct ThirdParty {
  std::string header;  // what the name in the #include begins with
  Strings places;      // what the path of a file that includes it begins with
};

const std::vector<ThirdParty>& third_parties() {
  static const std::vector<ThirdParty> headers = {
      {"sqlite3", {"db/sqlite."}},
      {"SQLiteCpp/", {"db/sqlite."}},
      {"curl/", {"slurm/rest/http."}},
      {"fftw3", {"engine/numerics/fft_fftw.", "bench/search_bench."}},
      {"kissfft/", {"engine/numerics/fft_kissfft."}},
      {"hwy/",
       {"engine/cpu/", "tests/unit/engine/cpu/", "bench/machine_peak.", "bench/search_bench."}},
      {"cuda", {"engine/cuda/", "engine/comm/nccl.", "engine/comm/nccl_", "bench/gpu_device."}},
      {"cufft", {"engine/cuda/"}},
      {"gloo/", {"engine/comm/gloo."}},
      {"nccl.h", {"engine/comm/nccl.", "engine/comm/nccl_"}},
      {"zlib.h", {"engine/io/compressed.", "tests/unit/engine/io/"}},
      {"bzlib.h", {"engine/io/bzip2.", "tests/unit/engine/io/"}},
      {"cairo",
       {"engine/pictures/", "scheduler/charts/", "tests/unit/engine/pictures/",
        "tests/unit/scheduler/charts/"}},
      {"openssl/", {"base/sha256.", "base/base64."}},
      {"kainjow/", {"scheduler/script/substitute."}},
      {"httplib", {"tests/fakes/"}},
      {"CLI/",
       {"base/cli_pages.", "tests/unit/base/cli_pages_test.", "engine/commands/",
        "scheduler/margayd.", "scheduler/margay.", "scheduler/cli/", "scheduler/process/options."}},
      {"yaml-cpp/",
       {"base/yaml_load.", "base/yaml_section.", "engine/config/with_results_in.",
        "scheduler/script/engine_config.", "tests/"}},
      {"spdlog/", {"scheduler/process/", "scheduler/http/", "scheduler/api/"}},
      {"systemd/", {"scheduler/process/notify_systemd.", "scheduler/process/journal_systemd."}},
      {"nlohmann/", {"base/json."}},
      {"base/json.h",
       {"base/json.", "engine/results/", "engine/commands/", "scheduler/script/job_comment.",
        "scheduler/results/job_json.", "scheduler/results/manifest_result.", "scheduler/margay.",
        "scheduler/http/", "scheduler/api/", "scheduler/cli/", "slurm/rest/", "bench/gpu_report.",
        "tests/"}},
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
      "dirent.h", "dlfcn.h",   "endian.h",   "errno.h",   "fcntl.h",   "fnmatch.h", "glob.h",
      "grp.h",    "link.h",    "poll.h",     "pthread.h", "pwd.h",     "sched.h",   "signal.h",
      "spawn.h",  "termios.h", "time.h",     "unistd.h",  "cpuid.h",   "fnmatch.h", "immintrin.h",
      "malloc.h", "math.h",    "ucontext.h", "netdb.h",   "ifaddrs.h", "net/if.h"};
  return posix.count(name) > 0 || begins_with_one_of(name, {"sys/", "linux/", "arpa/", "netinet/"});
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}
std::string first_folder(const std::string& path) { return path.substr(0, path.find('/')); }

bool is_ours(const std::string& include) {
  const std::string top = first_folder(include);
  if (top == include) return false;
  return is_outside(top) || std::any_of(rooms().begin(), rooms().end(), [&](const Room& room) {
           return room.folder == top || room.folder.starts_with(top + "/");
         });
}

const Room* room_of(const std::string& path) {
  const auto found = std::find_if(rooms().begin(), rooms().end(),
                                  [&](const Room& room) { return room.folder == folder_of(path); });
  return found == rooms().end() ? nullptr : &*found;
}

std::string fault_between(const std::string& path, const std::string& name) {
  if (is_outside(first_folder(path))) {
    const bool above = path.starts_with("bench/") && name.starts_with("tests/");
    return above ? "bench/ may not include tests/" : "";
  }
  const std::string to = folder_of(name);
  const Room& from = *room_of(path);
  if (to == from.folder || to == "base") return "";
  if (std::find(from.lower.begin(), from.lower.end(), to) != from.lower.end()) return "";
  const bool excepted =
      std::any_of(exceptions().begin(), exceptions().end(), [&](const Exception& exception) {
        return path.starts_with(exception.file) && name.starts_with(exception.may_include);
      });
  return excepted ? "" : from.folder + "/ may not include " + to + "/";
}

// The fault of one include, or nothing.
std::string fault_of(const std::string& path, const std::string& name, bool quoted) {
  for (const ThirdParty& third : third_parties()) {
    if (!name.starts_with(third.header)) continue;
    if (!begins_with_one_of(path, third.places)) return "this header belongs elsewhere";
    if (!is_ours(name)) return "";
  }
  if (is_ours(name)) {
    return quoted ? fault_between(path, name) : "our own headers are included with quotes";
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

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> includes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (auto include = include_of(line)) includes.push_back(std::move(*include));
  }
  return includes;
}

// A header and the .cpp beside it have one name.
std::string unit_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

using Graph = std::map<std::string, std::set<std::string>>;

Graph graph_of(const std::map<std::string, std::string>& files) {
  Graph graph;
  for (const auto& [path, text] : files) graph[unit_of(path)];
  for (const auto& [path, text] : files) {
    for (const Include& include : includes_of(text)) {
      const std::string to = unit_of(include.name);
      if (to != unit_of(path) && graph.count(to) > 0) graph[unit_of(path)].insert(to);
    }
  }
  return graph;
}

// Depth first; a node on the present path that is met again closes a circle.
class CircleSearch {
 public:
  explicit CircleSearch(const Graph& graph) : graph_(graph) {}

  std::vector<std::string> all() {
    for (const auto& [node, next] : graph_) visit(node);
    return {circles_.begin(), circles_.end()};
  }

 private:
  void visit(const std::string& node) {
    if (const auto at = std::find(path_.begin(), path_.end(), node); at != path_.end()) {
      add_circle({at, path_.end()});
      return;
    }
    if (!visited_.insert(node).second) return;
    path_.push_back(node);
    for (const std::string& next : graph_.at(node)) visit(next);
    path_.pop_back();
  }

  // The same circle always begins at its first name.
  void add_circle(Strings circle) {
    std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
    std::string text;
    for (const std::string& node : circle) text += node + " -> ";
    circles_.insert(text + circle.front());
  }

  const Graph& graph_;
  std::set<std::string> visited_;
  Strings path_;
  std::set<std::string> circles_;
};

}  // namespace

std::vector<std::string> layering_faults(const std::string& path, const std::string& text) {
  if (!is_outside(first_folder(path)) && room_of(path) == nullptr) {
    return {path + ": not in one of our rooms"};
  }
  std::vector<std::string> faults;
  for (const Include& include : includes_of(text)) {
    const std::string fault = fault_of(path, include.name, include.quoted);
    if (!fault.empty()) faults.push_back(path + ": " + include.name + ": " + fault);
  }
  const bool once = text.starts_with("#pragma once") || text.find("\n#pragma once") != text.npos;
  // Highway's -inl.h files are compiled once for each instruction set.
  const bool many_times = path.ends_with("-inl.h");
  if (path.ends_with(".h") && !once && !many_times)
    faults.push_back(path + ": has no #pragma once");
  return faults;
}

std::vector<std::string> include_circles(const std::map<std::string, std::string>& files) {
  const Graph graph = graph_of(files);
  return CircleSearch(graph).all();
}

}  // namespace tests
