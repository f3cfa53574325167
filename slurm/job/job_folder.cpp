#include "slurm/job/job_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/error.h"
#include "base/text.h"
#include "base/untrusted_file.h"

namespace slurm {
namespace {

constexpr const char* kEnvironmentPrefix = "env.";
constexpr size_t kLongestRecord = size_t{4} << 20;  // of a request with its environment

// A lock of the open file description: gone with its last holder, whatever ends it.
struct flock whole_file() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

int64_t nanoseconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Record to_record(const LocalRequest& request) {
  Record record = {{"name", request.name},
                   {"directory", request.directory},
                   {"output", request.output_path},
                   {"gpus", std::to_string(request.gpus)},
                   {"submitted_ns", std::to_string(request.submitted_ns)},
                   {"kill_wait_ms", std::to_string(request.kill_wait_ms)},
                   {"limit_ms", std::to_string(request.limit_ms)},
                   {"stop_signal", std::to_string(request.stop_signal)},
                   {"stop_before_ms", std::to_string(request.stop_before_ms)}};
  for (const auto& [key, value] : request.environment) record[kEnvironmentPrefix + key] = value;
  return record;
}

LocalRequest to_local_request(const Record& record) {
  LocalRequest request = {.name = text_of(record, "name"),
                          .directory = text_of(record, "directory"),
                          .output_path = text_of(record, "output"),
                          .environment = {},
                          .gpus = static_cast<int>(number_of(record, "gpus")),
                          .submitted_ns = number_of(record, "submitted_ns"),
                          .kill_wait_ms = number_of(record, "kill_wait_ms"),
                          .limit_ms = number_of(record, "limit_ms"),
                          .stop_signal = static_cast<int>(number_of(record, "stop_signal")),
                          .stop_before_ms = number_of(record, "stop_before_ms")};
  const std::string prefix = kEnvironmentPrefix;
  for (const auto& [key, value] : record) {
    if (key.starts_with(prefix)) request.environment[key.substr(prefix.size())] = value;
  }
  return request;
}

Record to_record(const ExitRecord& end) {
  Record record = {{"end_time", std::to_string(end.end_time)},
                   {"cpu_ms", std::to_string(static_cast<int64_t>(end.cpu_seconds * 1000))},
                   {"peak_memory_kb", std::to_string(end.peak_memory_kb)},
                   {"message", end.message}};
  if (end.exit_code) record["exit_code"] = std::to_string(*end.exit_code);
  if (end.signal) record["signal"] = std::to_string(*end.signal);
  if (end.timed_out) record["timed_out"] = "1";
  if (end.out_of_memory) record["out_of_memory"] = "1";
  return record;
}

ExitRecord to_exit_record(const Record& record) {
  ExitRecord end;
  if (record.contains("exit_code")) end.exit_code = number_of(record, "exit_code");
  if (record.contains("signal")) end.signal = number_of(record, "signal");
  end.timed_out = number_of(record, "timed_out") != 0;
  end.out_of_memory = number_of(record, "out_of_memory") != 0;
  end.end_time = number_of(record, "end_time");
  end.cpu_seconds = static_cast<double>(number_of(record, "cpu_ms")) / 1000;
  end.peak_memory_kb = number_of(record, "peak_memory_kb");
  end.message = text_of(record, "message");
  return end;
}

Record gpus_record(const std::vector<std::string>& ids) {
  return {{"ids", base::joined(ids, ",")}};
}

std::vector<std::string> gpus_in(const JobFolder& folder) {
  const std::string ids = text_of(folder.read(kGpusRecord).value_or(Record{}), "ids");
  return ids.empty() ? std::vector<std::string>{} : base::split(ids, ',');
}

std::optional<Record> JobFolder::read(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  const auto file = base::open_untrusted_at(folder_.get(), name, path);
  return file ? decode(base::read_whole(*file, kLongestRecord, path)) : std::nullopt;
}

bool JobFolder::has(const std::string& name) const {
  struct stat info = {};
  return fstatat(folder_.get(), name.c_str(), &info, 0) == 0;
}

void JobFolder::write_text(const std::string& name, const std::string& text) const {
  base::write_file_atomically_at(folder_.get(), name, text, {.mode = 0644});
}

void JobFolder::write(const std::string& name, const Record& record) const {
  write_text(name, encode(record));
}

base::Descriptor JobFolder::open_lock() const {
  base::Descriptor file(
      openat(folder_.get(), "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool unfit = errno == ENOENT || errno == ELOOP || errno == EISDIR || errno == ENXIO ||
                     errno == EACCES || errno == EPERM;
  if (!file && unfit) {
    throw base::UnfitFile("'" + path_ + "/lock' is missing, or no file that may be opened");
  }
  if (!file) base::throw_errno("cannot open the job's lock");
  return file;
}

std::optional<base::Descriptor> JobFolder::take_lock() const {
  base::Descriptor file = open_lock();
  struct flock lock = whole_file();
  if (fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
  if (errno == EAGAIN || errno == EACCES) return std::nullopt;
  base::throw_errno("cannot lock the job's folder");
}

bool JobFolder::is_locked() const {
  const base::Descriptor file = open_lock();
  struct flock lock = whole_file();
  if (fcntl(file.get(), F_OFD_GETLK, &lock) != 0) {
    base::throw_errno("cannot ask for the job's lock");
  }
  return lock.l_type != F_UNLCK;
}

int64_t boot_clock_ms() { return nanoseconds(CLOCK_BOOTTIME) / 1'000'000; }

int64_t wall_clock_ns() { return nanoseconds(CLOCK_REALTIME); }

}  // namespace slurm
