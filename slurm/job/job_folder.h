// The folder of one local job. It is renamed into place with the whole request in it, so that a
// folder of this name is a job that was submitted, once. The records that its wrapper (local_job.h)
// writes here decide everything else about the job.
//
//   request   what to run                                    before the folder gets its name
//   job.sh    the script                                     before the folder gets its name
//   lock      locked by the wrapper as long as it lives      before the folder gets its name
//   gpus      those that it holds until it has ended         the daemon, before the wrapper starts
//   started   the wrapper: from now on it never starts again
//   job       the script's process, written by itself just before it becomes bash
//   cancel    when the job was asked to end
//   exit      how it ended
//   forget    the result is stored; the folder goes when the job has ended
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/descriptor.h"
#include "slurm/job/process_identity.h"

namespace slurm {

struct LocalRequest {
  std::string name;
  std::string directory;
  std::string output_path;
  std::map<std::string, std::string> environment;  // complete: nothing is inherited
  int gpus = 0;                                    // that it gets before it starts
  int64_t submitted_ns = 0;                        // orders the queue
  int64_t kill_wait_ms = 0;
  // Time limit of the script; 0: none. The script gets `stop_signal` (0: none) stop_before_ms
  // before the limit, SIGTERM at the limit and SIGKILL kill_wait_ms later.
  int64_t limit_ms = 0;
  int stop_signal = 0;
  int64_t stop_before_ms = 0;
};

Record to_record(const LocalRequest& request);
LocalRequest to_local_request(const Record& record);

struct ExitRecord {
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool timed_out = false;      // it had not ended at its time limit
  bool out_of_memory = false;  // killed by the kernel for want of memory
  int64_t end_time = 0;
  double cpu_seconds = 0;
  int64_t peak_memory_kb = 0;
  std::string message;  // why it could not be started
};

Record to_record(const ExitRecord& end);
ExitRecord to_exit_record(const Record& record);

class JobFolder {
 public:
  // Throws std::system_error when the folder is not there.
  explicit JobFolder(const std::filesystem::path& path)
      : path_(path), folder_(base::open_folder(path)) {}

  int descriptor() const { return folder_.get(); }
  // nullopt when there is no such record, or it is incomplete. Throws base::UnfitFile when the name
  // is not a regular file of a record's size (a pipe, a link, a file too long), and
  // std::system_error.
  std::optional<Record> read(const std::string& name) const;
  bool has(const std::string& name) const;
  // Writes atomically and durably. Throws std::system_error naming the file.
  void write_text(const std::string& name, const std::string& text) const;
  void write(const std::string& name, const Record& record) const;

  // The wrapper's lock, held until the descriptor is closed; nullopt when another one holds it.
  // Both throw base::UnfitFile where the lock is missing or no file, and std::system_error.
  std::optional<base::Descriptor> take_lock() const;
  // Takes no lock, so that a wrapper that starts at this instant is not disturbed.
  bool is_locked() const;

 private:
  base::Descriptor open_lock() const;

  std::string path_;
  base::Descriptor folder_;
};

inline constexpr const char* kGpusRecord = "gpus";
// The record of GPUs, named as CUDA_VISIBLE_DEVICES takes them.
Record gpus_record(const std::vector<std::string>& ids);
// The GPUs in the folder's record; empty where there is no record. Throws as JobFolder::read().
std::vector<std::string> gpus_in(const JobFolder& folder);

int64_t boot_clock_ms();  // counts while the machine sleeps, never jumps
int64_t wall_clock_ns();

}  // namespace slurm
