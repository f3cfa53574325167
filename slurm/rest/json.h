// slurmrestd's requests and answers, by API version: pure text. All differences of shape between
// the versions are here. v0.0.43 and later are written from their documents and have not been
// tested against a real slurmrestd. Reading never throws: values that are cut or have another shape
// are left out.
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
#include "slurm/queued_job.h"
#include "slurm/sbatch/directives.h"
#include "slurm/site_facts.h"

namespace slurm {

// An answer as it was received.
struct RestAnswer {
  int status = 0;  // HTTP
  std::string body;
  double seconds = 0;
};

// What is wrong with an answer, or nothing.
enum class Trouble {
  kNone,
  kToken,       // the token is bad, expired or another user's
  kController,  // slurmctld is down or does not answer slurmrestd in time
  kNotFound,    // no such job, or no such address
  kRefused,     // understood and refused
  kOther,       // anything else: not JSON, cut, 5xx without a message
};
struct Problem {
  Trouble trouble = Trouble::kNone;
  int code = 0;         // Slurm's error number, 0 = none
  std::string message;  // one sentence for the administrator; never a part of the request
};
// For any answer but a submission's, for which there is classify_submit().
Problem problem_of(ApiVersion version, const RestAnswer& answer);

// Paths on the server: slurmctld's ("ping", "diag", "nodes" ...), slurmdbd's ("qos", "associations"
// ...), and those with more than one word.
std::string controller_path(ApiVersion version, const std::string& rest);
std::string accounting_path(ApiVersion version, const std::string& rest);
std::string submit_path(ApiVersion version);
std::string jobs_path(ApiVersion version);
std::string job_path(ApiVersion version, const std::string& job_id);  // GET, POST, DELETE
std::string signal_path(ApiVersion version, const std::string& job_id, const std::string& signal);
std::string accounting_jobs_path(ApiVersion version, const std::string& name);

// Throws std::runtime_error when a text in it is not UTF-8.
std::string submit_body(ApiVersion version, const JobRequest& request, const Resources& resources);
std::string release_body();

// The body decides first: a job id proves that the job was accepted, whatever the status. An answer
// that does not prove a refusal is kUnknown.
SubmitResult classify_submit(const RestAnswer& answer);

// One object of "jobs" in the controller's listing. nullopt: it is not a job.
std::optional<JobStatus> parse_job(const std::string& object);
// The same object with what a planner needs; the caller decides whether the job is ours. nullopt:
// it is not a job.
std::optional<QueuedJob> parse_queued_job(const std::string& object);
// The jobs in a complete answer of accounting, one entry for each job.
std::vector<JobStatus> parse_accounting_jobs(const std::string& body);

// Partitions by name.
std::map<std::string, PartitionFacts> parse_partitions(const std::string& body);
NodeTotals parse_node_totals(const std::string& body);
QosByName parse_qos(const std::string& body);
// The associations of `user` and of accounts; only of this cluster, if the answer says which it is.
AssociationFacts parse_associations(const std::string& body, const std::string& user);
// The controller's clock in an answer of diag, seconds since the epoch.
std::optional<int64_t> controller_time(const std::string& body);
// Slurm's release, "22.05.8", from any answer's meta; empty: it is not there.
std::string slurm_release(const std::string& body);
// The API versions in the document of /openapi/v3; true: the version offers accounting (slurmdb).
std::map<ApiVersion, bool> offered_versions(const std::string& openapi);

// A listing of jobs read piece by piece: each object of its "jobs" is passed to `each` and
// forgotten, so that a listing of 80 MB needs as much memory as one job.
class JobListing {
 public:
  explicit JobListing(std::function<void(const std::string& object)> each)
      : each_(std::move(each)) {}
  // Throws std::runtime_error when a job is longer than 16 MB, and what `each` throws.
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
