#include "scheduler/cli/items/watches.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/json.h"
#include "base/read_file.h"
#include "scheduler/cli/terminal/exit.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Failure(Exit::kFailed, path + ": " + what);
}

json number_json(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

std::optional<double> number_of(const json& entry, const char* key) {
  const json& value = entry.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

json watch_json(const Watch& watch) {
  const EnqueueOptions& enqueue = watch.enqueue;
  json entry = {{"id", watch.id},
                {"paused", watch.paused},
                {"template", enqueue.search_template},
                {"priority", enqueue.priority},
                {"hold", enqueue.hold},
                {"options", enqueue.options},
                {"defocus_u", number_json(enqueue.ctf.defocus_u)},
                {"defocus_v", number_json(enqueue.ctf.defocus_v)},
                {"astigmatism_angle", number_json(enqueue.ctf.astigmatism_angle)},
                {"phase_shift", number_json(enqueue.ctf.phase_shift)}};
  api::put_text(entry, "directory", watch.directory);
  api::put_text(entry, "pattern", watch.pattern);
  api::put_text(entry, "ctf", enqueue.ctf.pattern);
  api::put_text(entry, "label", enqueue.label);
  api::put_text(entry, "group", enqueue.group);
  return entry;
}

Watch watch_of(const json& entry) {
  const auto text = [&](const char* key) { return api::get_text(entry, key).value_or(""); };
  Watch watch{.id = entry.at("id"),
              .directory = text("directory"),
              .pattern = text("pattern"),
              .paused = entry.at("paused")};
  EnqueueOptions& enqueue = watch.enqueue;
  enqueue.search_template = entry.at("template");
  enqueue.priority = entry.at("priority");
  enqueue.hold = entry.at("hold");
  enqueue.options = entry.at("options");
  enqueue.ctf.defocus_u = number_of(entry, "defocus_u");
  enqueue.ctf.defocus_v = number_of(entry, "defocus_v");
  enqueue.ctf.astigmatism_angle = number_of(entry, "astigmatism_angle");
  enqueue.ctf.phase_shift = number_of(entry, "phase_shift");
  enqueue.ctf.pattern = text("ctf");
  enqueue.label = text("label");
  enqueue.group = text("group");
  return watch;
}

struct Contents {
  int64_t last = 0;  // number given
  std::vector<Watch> watches{};
};

Contents read_contents(const std::string& path) {
  try {
    const std::optional<std::string> text = base::read_file(path);
    if (!text) return {};
    const json document = json::parse(*text);
    if (document.at("format") != 1) fail(path, "is of a newer margay");
    Contents contents{.last = document.at("last")};
    for (const json& entry : document.at("watches")) contents.watches.push_back(watch_of(entry));
    return contents;
  } catch (const base::FileError& error) {
    throw Failure(Exit::kFailed, error.what());
  } catch (const json::exception&) {
    fail(path, "is damaged; move it away and add the watches again");
  }
}

base::Descriptor open_locked(const std::string& path, int wait) {
  std::error_code ignored;  // opening says what is wrong
  fs::create_directories(fs::path(path).parent_path(), ignored);
  base::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file) fail(path, std::string("cannot open it: ") + std::strerror(errno));
  while (::flock(file.get(), LOCK_EX | wait) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) fail(path, std::string("cannot lock it: ") + std::strerror(errno));
    fail(path, "another 'margay watch run' works with it; one is enough for all watches");
  }
  return file;
}

// What is appended next must not become part of a line that a crash or a full disk cut short.
void end_last_line(const std::string& path, int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(file, &last, 1, size - 1) != 1) {
    fail(path, std::string("cannot read it: ") + std::strerror(errno));
  }
  if (last != '\n' && !base::write_all(file, "\n")) {
    fail(path, std::string("cannot write it: ") + std::strerror(errno));
  }
}

void change(const std::string& path, const std::function<void(Contents&)>& action) {
  const base::Descriptor lock = open_locked(path + ".lock", 0);
  Contents contents = read_contents(path);
  action(contents);
  json document = {{"format", 1}, {"last", contents.last}, {"watches", json::array()}};
  for (const Watch& watch : contents.watches) document["watches"].push_back(watch_json(watch));
  try {
    base::write_file_atomically(path, document.dump(2) + "\n", {.mode = 0600});
  } catch (const base::FileError& error) {
    throw Failure(Exit::kFailed, error.what());
  }
}

std::vector<Watch>::iterator find(Contents& contents, int64_t id) {
  const auto found = std::find_if(contents.watches.begin(), contents.watches.end(),
                                  [id](const Watch& watch) { return watch.id == id; });
  if (found != contents.watches.end()) return found;
  throw Failure(Exit::kNotFound, "no watch " + std::to_string(id) + "; see 'margay watch list'");
}

}  // namespace

std::string default_watches_file() {
  const std::string home = base::variable("HOME", ".");
  const std::string state = base::variable("XDG_STATE_HOME", home + "/.local/state");
  return base::variable("MARGAY_WATCHES", state + "/margay/watches.json");
}

std::vector<Watch> WatchList::read() const { return read_contents(file_).watches; }

int64_t WatchList::add(const Watch& watch) const {
  int64_t id = 0;
  change(file_, [&](Contents& contents) {
    id = ++contents.last;
    contents.watches.push_back(watch);
    contents.watches.back().id = id;
  });
  return id;
}

void WatchList::set_paused(int64_t id, bool paused) const {
  change(file_, [&](Contents& contents) { find(contents, id)->paused = paused; });
}

void WatchList::remove(int64_t id) const {
  change(file_, [&](Contents& contents) { contents.watches.erase(find(contents, id)); });
}

TakenFiles::TakenFiles(const std::string& watches_file)
    : path_(watches_file + ".taken"), file_(open_locked(path_, LOCK_NB)) {
  end_last_line(path_, file_.get());
}

std::vector<ingest::FileLook> TakenFiles::of(int64_t watch) const {
  std::vector<ingest::FileLook> files;
  std::istringstream lines(base::read_file(path_).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    // A line that a crash cut short is left out: the daemon knows its file's content.
    const json entry = json::parse(line, nullptr, false);
    if (!entry.is_object() || entry.value("watch", int64_t{0}) != watch) continue;
    files.push_back({.path = api::get_text(entry, "path").value_or(""),
                     .bytes = entry.value("bytes", int64_t{0}),
                     .mtime_ns = entry.value("mtime_ns", int64_t{0}),
                     .inode = entry.value("inode", int64_t{0})});
  }
  return files;
}

void TakenFiles::append(int64_t watch, const ingest::FileLook& file) const {
  json entry = {
      {"watch", watch}, {"bytes", file.bytes}, {"mtime_ns", file.mtime_ns}, {"inode", file.inode}};
  api::put_text(entry, "path", file.path);
  if (base::write_all(file_.get(), entry.dump() + "\n")) return;
  fail(path_, std::string("cannot write it: ") + std::strerror(errno));
}

}  // namespace scheduler::cli
