// slurmrestd's requests and answers, by API version: pure text. All differences of shape between
// the versions are here. v0.0.43 and later are written from their documents: NOT SEEN on a real
// one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/api_version.h"
#include "slurm/cluster.h"
#include "slurm/sbatch/directives.h"

namespace slurm {

// An answer as it came.
struct RestAnswer {
  int status = 0;  // HTTP
  std::string body;
  double seconds = 0;
};

// What is wrong with an answer, or nothing.
enum class Trouble {
  kNone,
  kToken,       // bad, expired or another user's
  kController,  // slurmctld is down or does not answer slurmrestd in time
  kNotFound,    // no such job, or no such address
  kRefused,     // understood and refused
  kOther,       // anything else: not JSON, cut, 5xx without a word
};
struct Problem {
  Trouble trouble = Trouble::kNone;
  int code = 0;         // Slurm's error number, 0 = none
  std::string message;  // one sentence for the administrator; never a part of the request
};
// Of any answer but a submission's.
Problem problem_of(ApiVersion version, const RestAnswer& answer);

// The addresses, from the root of the server.
std::string submit_path(ApiVersion version);
std::string jobs_path(ApiVersion version);
std::string job_path(ApiVersion version, const std::string& job_id);  // GET, POST, DELETE
std::string signal_path(ApiVersion version, const std::string& job_id, const std::string& signal);
std::string ping_path(ApiVersion version);
std::string diag_path(ApiVersion version);
std::string partitions_path(ApiVersion version);
std::string nodes_path(ApiVersion version);
std::string accounting_jobs_path(ApiVersion version, const std::string& name);
std::string accounting_qos_path(ApiVersion version);
std::string accounting_associations_path(ApiVersion version);

std::string submit_body(ApiVersion version, const JobRequest& request, const Resources& resources);
std::string release_body(ApiVersion version);

// By the body first: a job id is an acceptance whatever the status. What is not proven refused is
// kUnknown.
SubmitResult classify_submit(ApiVersion version, const RestAnswer& answer);

// One object of "jobs" of the controller's listing. nullopt when it is no job.
std::optional<JobStatus> parse_job(ApiVersion version, const std::string& object);
// Whole answers of accounting.
std::vector<JobStatus> parse_accounting_jobs(ApiVersion version, const std::string& body);

struct PartitionFacts {
  std::string name;
  std::string state;             // "UP"
  int64_t longest_minutes = -1;  // -1 = no limit
  int nodes = 0;
};
std::vector<PartitionFacts> parse_partitions(ApiVersion version, const std::string& body);
struct NodeFacts {
  std::string name;
  std::string state;
  int gpus = 0;
};
std::vector<NodeFacts> parse_nodes(ApiVersion version, const std::string& body);
std::vector<std::string> parse_qos_names(ApiVersion version, const std::string& body);
// Accounts of a user.
std::vector<std::string> parse_accounts(ApiVersion version, const std::string& body,
                                        const std::string& user);
// The controller's clock in an answer of diag, seconds since the epoch.
std::optional<int64_t> controller_time(const std::string& body);
// "22.05.8" out of any answer's meta, empty = not there.
std::string slurm_release(const std::string& body);
// The versions that /openapi/v3 names, and whether accounting (slurmdb) is offered in each.
std::map<ApiVersion, bool> offered_versions(const std::string& openapi);

// A listing of jobs read piece by piece: each object of its "jobs" goes to `each` and is forgotten,
// so that a listing of 80 MB costs as much memory as one job.
class JobListing {
 public:
  explicit JobListing(std::function<void(const std::string& object)> each)
      : each_(std::move(each)) {}
  // Throws std::runtime_error when an object is beyond any sense (16 MB).
  void feed(std::string_view piece);
  // Whether the whole document was there, with its closing brace and a "jobs" array.
  bool whole() const;
  // The document without the jobs, for problem_of() and slurm_release().
  const std::string& rest() const { return rest_; }

 private:
  void take(char c);
  void take_in_string(char c);
  void take_outside(char c);
  void finish_object();

  std::function<void(const std::string&)> each_;
  std::string rest_;
  std::string object_;
  std::string key_;  // the last string at the document's first level
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_jobs_ = false;
  bool seen_jobs_ = false;
  bool broken_ = false;
  bool ended_ = false;
};

}  // namespace slurm
