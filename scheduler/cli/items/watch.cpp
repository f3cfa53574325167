#include "scheduler/cli/items/watch.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "scheduler/cli/items/folder_events.h"
#include "scheduler/cli/items/templates.h"
#include "scheduler/http/json_text.h"
#include "scheduler/ingest/ctffind.h"
#include "scheduler/ingest/image_size.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Files of one request: each is read whole before it is sent.
constexpr size_t kBatch = 50;
// What is written meanwhile is looked at together.
constexpr std::chrono::milliseconds kShortestPause{50};

// The file's inode as it is; nothing for what is no regular file.
std::optional<ingest::FileLook> look_at(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return ingest::FileLook{
      .path = path,
      .bytes = facts.st_size,
      .mtime_ns = facts.st_mtim.tv_sec * 1'000'000'000LL + facts.st_mtim.tv_nsec,
      .inode = static_cast<int64_t>(facts.st_ino)};
}

// One watched folder: what has settled, and what was said of its files.
class Folder {
 public:
  Folder(const Context& context, const TakenFiles& taken, Watch watch,
         std::chrono::milliseconds settle)
      : context_(context), taken_(taken), watch_(std::move(watch)), settling_(settle) {
    for (const ingest::FileLook& file : taken.of(watch_.id)) settling_.deal_with(file);
  }

  // False: the daemon does not answer, or has too much to do.
  bool take_settled() {
    take_up_corrected();
    std::vector<ingest::FileLook> ready = settling_.settled(find_files(), Clock::now());
    postponed_ = 0;
    changed_ = false;
    for (size_t begin = 0; begin < ready.size(); begin += kBatch) {
      const size_t end = std::min(ready.size(), begin + kBatch);
      if (!enqueue({ready.begin() + static_cast<std::ptrdiff_t>(begin),
                    ready.begin() + static_cast<std::ptrdiff_t>(end)})) {
        return false;
      }
    }
    return true;
  }

  const Watch& watch() const { return watch_; }
  bool is_waiting() const { return changed_ || settling_.waiting() > 0; }
  // Files that have settled and are not enqueued: no whole micrographs, or refused by the daemon.
  size_t left() const { return postponed_ + refused_; }

 private:
  struct Ready {
    ingest::FileLook look;
    OpenFile file;
    json entry;
    std::string doubt;  // of the CTF in its file; empty: none
  };
  struct Hashed {
    ingest::FileLook look;
    std::string sha256;
  };

  std::vector<ingest::FileLook> find_files() {
    std::vector<ingest::FileLook> files;
    std::error_code error;
    for (fs::directory_iterator entry(watch_.directory, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const bool matches = ::fnmatch(watch_.pattern.c_str(), name.c_str(), FNM_PERIOD) == 0;
      if (!matches) continue;
      if (auto look = look_at(entry->path().string())) files.push_back(std::move(*look));
    }
    if (error) say_once(watch_.directory, "cannot read the folder: " + error.message());
    return files;
  }

  // Nothing for a file that is not whole, or changes while it is read: it is tried again.
  std::optional<Ready> open_ready(const ingest::FileLook& look) {
    try {
      OpenFile file = open_file(look.path);
      const std::string problem = image_problem(file.descriptor.get(), look.bytes);
      if (!problem.empty()) throw Failure(Exit::kFailed, look.path + " " + problem);
      const auto [ctf, optics] = ctf_of(watch_.enqueue.ctf, look.path);
      json entry = micrograph_entry(file.path, ctf, optics);
      entry["content"] = content_of(file, look);
      if (look_at(look.path) != look) {
        changed_ = true;
        return std::nullopt;
      }
      return Ready{.look = look,
                   .file = std::move(file),
                   .entry = std::move(entry),
                   .doubt = watch_.enqueue.ctf.pattern.empty() ? "" : doubt_of(ctf, false)};
    } catch (const Failure& failure) {
      postpone(look, failure.what());
    } catch (const base::FileError& error) {
      postpone(look, error.what());
    }
    return std::nullopt;
  }

  // A file that waits for the daemon or for a quota is read once, however often it is tried.
  const std::string& content_of(const OpenFile& file, const ingest::FileLook& look) {
    Hashed& known = hashed_[look.path];
    if (known.sha256.empty() || known.look != look) {
      known = {.look = look, .sha256 = base::sha256_of_open_file(file.descriptor.get(), look.path)};
    }
    return known.sha256;
  }

  void postpone(const ingest::FileLook& look, const std::string& why) {
    ++postponed_;
    settling_.postpone(look.path, Clock::now());
    say_once(look.path, why + "; it is looked at again");
  }

  bool enqueue(const std::vector<ingest::FileLook>& files) {
    std::vector<Ready> ready;
    for (const ingest::FileLook& look : files) {
      if (auto one = open_ready(look)) ready.push_back(std::move(*one));
    }
    if (ready.empty()) return true;
    json entries = json::array();
    std::vector<int> descriptors;
    for (Ready& one : ready) {
      one.entry["file"] = descriptors.size();
      descriptors.push_back(one.file.descriptor.get());
      entries.push_back(one.entry);
    }
    try {
      json body = enqueue_body(watch_.enqueue);
      body["items"] = std::move(entries);
      const json answers = context_.post("/v1/items", body, descriptors).at("items");
      for (size_t i = 0; i < ready.size(); ++i) take(ready[i], answers.at(i));
      return true;
    } catch (const Failure& failure) {
      say_once(watch_.directory, failure.what());
      if (failure.passes()) return false;
      // Every file of the request: the template is gone, or a quota used up.
      for (const Ready& one : ready) postpone(one.look, failure.what());
      return true;
    }
  }

  void take(const Ready& one, const json& answer) {
    if (answer.contains("error")) {
      const Failure failure = failure_of(answer.at("error"));
      const bool may_pass = failure.passes() || failure.exit() == Exit::kNotPermitted ||
                            failure.exit() == Exit::kNotFound;
      if (may_pass) return postpone(one.look, failure.what());
      context_.complain(failure.what());
      if (failure.exit() != Exit::kConflict) return refuse(one.look);
    } else {
      context_.out() << "item " << answer.at("item").at("id").get<int64_t>() << "  "
                     << printable(one.file.path) << std::endl;
      warn_of_ctf(one);
    }
    deal_with(one.look);
    taken_.append(watch_.id, one.look);
  }

  // Until it or its CTF file changes, or until the next start, when somebody may have corrected
  // what is wrong.
  void refuse(const ingest::FileLook& look) {
    ++refused_;
    deal_with(look);
    if (const std::string file = ctf_file_of(look.path); !file.empty()) {
      refused_with_[look.path] = look_at(file);
    }
  }

  void take_up_corrected() {
    std::erase_if(refused_with_, [&](const auto& entry) {
      const auto& [path, ctf] = entry;
      if (look_at(ctf_file_of(path)) == ctf) return false;
      settling_.take_up_again(path);
      --refused_;
      return true;
    });
  }

  // Empty: the CTF is in the watch's options.
  std::string ctf_file_of(const std::string& micrograph) const {
    const std::string& pattern = watch_.enqueue.ctf.pattern;
    return pattern.empty() ? "" : ingest::expand_pattern(pattern, micrograph);
  }

  void warn_of_ctf(const Ready& one) {
    if (one.doubt.empty() || warned_) return;
    warned_ = true;
    context_.complain("watch " + std::to_string(watch_.id) + ": warning: " + one.look.path + ": " +
                      one.doubt + " (other such CTFs of this watch are not named)");
  }

  void deal_with(const ingest::FileLook& look) {
    settling_.deal_with(look);
    hashed_.erase(look.path);
  }

  // Again only when there is something else to say of the same path.
  void say_once(const std::string& path, const std::string& what) {
    std::string& said = said_[path];
    if (said != what) context_.complain("watch " + std::to_string(watch_.id) + ": " + what);
    said = what;
  }

  const Context& context_;
  const TakenFiles& taken_;
  Watch watch_;
  ingest::Settling settling_;
  std::map<std::string, std::string> said_;
  std::map<std::string, Hashed> hashed_;  // of files that are not dealt with
  // Refused files whose CTF is in a file, and how that looked.
  std::map<std::string, std::optional<ingest::FileLook>> refused_with_;
  bool warned_ = false;  // of a doubtful CTF
  size_t postponed_ = 0;
  size_t refused_ = 0;
  bool changed_ = false;  // a file that had settled did so while it was read
};

class Watcher {
 public:
  Watcher(const Context& context, const WatchOptions& options)
      : context_(context), options_(options), taken_(options.file) {}

  Exit run() {
    for (;;) {
      const Clock::time_point begin = Clock::now();
      read_list();
      bool answered = true;
      for (auto& [id, folder] : folders_) answered = folder.take_settled() && answered;
      if (options_.once && answered && !is_waiting()) {
        size_t left = 0;
        for (const auto& [id, folder] : folders_) left += folder.left();
        return left == 0 ? Exit::kOk : Exit::kPartial;
      }
      // Looking at a large folder whose files are written all the time takes half of the time.
      const auto took = std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begin);
      events_.wait(std::max(took, kShortestPause),
                   is_waiting() ? std::min(options_.settle, options_.rescan) : options_.rescan);
    }
  }

 private:
  bool is_waiting() const {
    return std::any_of(folders_.begin(), folders_.end(),
                       [](const auto& entry) { return entry.second.is_waiting(); });
  }

  // Watches that were added, paused or removed meanwhile.
  void read_list() {
    std::set<int64_t> active;
    for (const Watch& watch : WatchList(options_.file).read()) {
      if (watch.paused) continue;
      active.insert(watch.id);
      folders_.try_emplace(watch.id, context_, taken_, watch, options_.settle);
      events_.add(watch.directory);
    }
    std::erase_if(folders_, [&](const auto& entry) { return !active.contains(entry.first); });
  }

  const Context& context_;
  const WatchOptions& options_;
  TakenFiles taken_;
  FolderEvents events_;
  std::map<int64_t, Folder> folders_;
};

}  // namespace

Exit add_watch(const Context& context, const WatchOptions& options) {
  Watch watch = options.added;
  if (watch.enqueue.again || watch.enqueue.dry_run) {
    throw Failure(Exit::kUsage,
                  "a watch enqueues each content once: --again and --dry-run have no "
                  "meaning here");
  }
  check_for_files_to_come(watch.enqueue.ctf);
  std::error_code error;
  const fs::path directory = fs::canonical(watch.directory, error);
  if (error) throw Failure(Exit::kNotFound, watch.directory + ": " + error.message());
  if (!fs::is_directory(directory, error)) {
    throw Failure(Exit::kFailed, watch.directory + " is not a folder");
  }
  find_template(context.get("/v1/templates"), watch.enqueue.search_template);
  watch.directory = directory.string();
  if (watch.enqueue.ctf.pattern.empty()) {
    const std::string doubt = doubt_of(ctf_of(watch.enqueue.ctf, "").ctf, true);
    if (!doubt.empty()) context.complain("warning: " + doubt);
  }
  const int64_t id = WatchList(options.file).add(watch);
  if (context.print_if_json({{"watch", id}})) return Exit::kOk;
  context.out() << "watch " << id << " added; 'margay watch run' takes its files\n";
  return Exit::kOk;
}

Exit list_watches(const Context& context, const WatchOptions& options) {
  json list = json::array();
  Table table({{.title = "WATCH", .align = Align::kRight},
               {.title = "STATE"},
               {.title = "TEMPLATE"},
               {.title = "PRIORITY"},
               {.title = "LABEL"},
               {.title = "FILES", .least = 20, .cut = Cut::kStart}});
  for (const Watch& watch : WatchList(options.file).read()) {
    const std::string files = watch.directory + "/" + watch.pattern;
    const char* state = watch.paused ? "paused" : "active";
    json entry = {{"id", watch.id},
                  {"state", state},
                  {"template", watch.enqueue.search_template},
                  {"priority", watch.enqueue.priority}};
    api::put_text(entry, "label", watch.enqueue.label);
    api::put_text(entry, "directory", watch.directory);
    api::put_text(entry, "pattern", watch.pattern);
    list.push_back(std::move(entry));
    table.add({{std::to_string(watch.id), style::kBold},
               {state},
               {watch.enqueue.search_template},
               {watch.enqueue.priority},
               {watch.enqueue.label},
               {files}});
  }
  if (context.print_if_json({{"watches", list}})) return Exit::kOk;
  context.print(table, "no watches; add one with 'margay watch add'\n");
  return Exit::kOk;
}

Exit pause_watch(const Context& context, const WatchOptions& options, bool paused) {
  WatchList(options.file).set_paused(options.id, paused);
  if (context.print_if_json({{"watch", options.id}, {"paused", paused}})) return Exit::kOk;
  context.out() << "watch " << options.id << (paused ? " paused\n" : " resumed\n");
  return Exit::kOk;
}

Exit remove_watch(const Context& context, const WatchOptions& options) {
  WatchList(options.file).remove(options.id);
  if (context.print_if_json({{"watch", options.id}, {"removed", true}})) return Exit::kOk;
  context.out() << "watch " << options.id << " removed; its items stay\n";
  return Exit::kOk;
}

Exit run_watches(const Context& context, const WatchOptions& options) {
  return Watcher(context, options).run();
}

}  // namespace scheduler::cli
