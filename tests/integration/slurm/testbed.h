// A real Slurm of a test's own: the script `testbed` beside this file, as an object.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/program.h"

namespace tests {

struct BedOptions {
  int nodes = 16;
  int gpus = 4;  // of each node
  bool accounting = true;
  int min_job_age = 300;       // seconds that slurmctld remembers a finished job
  int slurmd_timeout = 30;     // seconds until a silent node is down
  bool memory_limits = false;  // see SlurmBed::can_limit_memory()
  bool host_names = false;     // see SlurmBed::can_name_hosts()
  // A list of tcp, unix, local. Slurm 22.05 may need a minute to bind its port again.
  std::string rest = "unix";
  std::vector<std::string> conf{};  // more lines of slurm.conf
};

enum class Service { kRest, kController, kAccounting };
enum class Fault {
  kStart,
  kStartClean,  // the controller alone: it knows no job and counts from 1 again
  kStop,
  kKill,
  kHang,
  kUnhang
};

class SlurmBed {
 public:
  // What of the packages is missing here; empty: nothing. For MARGAY_SKIP_FOR_WANT_OF.
  static std::string missing();
  // A job beyond its memory can be killed here.
  static bool can_limit_memory();
  // What runs on a node can find every node by its name here.
  static bool can_name_hosts();

  // Throws std::runtime_error with what the script said. Stopped by the destructor, and by itself
  // should this process die.
  explicit SlurmBed(const BedOptions& options = {});
  ~SlurmBed();
  SlurmBed(const SlurmBed&) = delete;
  SlurmBed& operator=(const SlurmBed&) = delete;

  const std::string& folder() const { return folder_; }
  std::string release() const { return facts_.at("MARGAY_BED_RELEASE"); }  // "22.05.8"
  std::string url() const { return facts_.at("MARGAY_BED_URL"); }          // http://127.0.0.1:...
  std::string socket() const { return facts_.at("MARGAY_BED_SOCKET"); }    // unix:/...
  std::string local_socket() const { return facts_.at("MARGAY_BED_LOCAL_SOCKET"); }
  // Whose jobs a test submits, and somebody else's, if there is one. Run as root these are system
  // users; else there is only the one who runs the test.
  std::string user() const { return users_.front(); }
  std::optional<std::string> other_user() const;
  // For programs that speak to this Slurm: SLURM_CONF=...
  std::vector<std::string> environment() const;

  // A folder that user()'s jobs may write to.
  std::string files() const { return folder_ + "/files"; }
  // The file of user()'s token, user()'s own; made by the constructor, good for an hour.
  std::string token_file() const { return folder_ + "/files/token"; }
  // Another one in its place. Returns it.
  std::string rotate_token(int seconds = 3600) const;
  std::string token(const std::string& user, int seconds) const;

  // Slurm's commands, as this process's user (root may all) or as another. Throw
  // std::runtime_error when the command fails; run() does not.
  Finished run(const std::vector<std::string>& command, const std::string& as = "") const;
  std::string output_of(const std::vector<std::string>& command, const std::string& as = "") const;
  // As user(); returns the job's number.
  std::string sbatch(const std::vector<std::string>& options, const std::string& script) const;
  std::string squeue(const std::vector<std::string>& options) const;
  std::string scontrol(const std::vector<std::string>& arguments) const;
  // One field of `scontrol show job`, "" when there is no such job or field.
  std::string job_field(const std::string& job, const std::string& field) const;
  // Parsable lines without a header.
  std::string sacct(const std::vector<std::string>& options) const;

  void fault(Service service, Fault what) const;
  // kKill: as if the power failed.
  void node(const std::string& name, Fault what) const;

  // Before the destructor; leaves nothing.
  void stop();

 private:
  Finished testbed(const std::vector<std::string>& arguments) const;
  std::string testbed_output(const std::vector<std::string>& arguments) const;

  std::string folder_;
  std::map<std::string, std::string> facts_;
  std::vector<std::string> users_;
};

}  // namespace tests
