// A real margayd on a real Slurm, with an engine of the test's own.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "tests/integration/queue_at_work.h"
#include "tests/integration/slurm/testbed.h"

namespace tests {

struct SiteOptions {
  // Over the ones that a test wants: short intervals, no limit of requests.
  std::string url{};         // empty: the bed's Unix socket
  std::string token_file{};  // empty: the bed's
  std::string slurm{};       // more lines of the section slurm, indented by two
  std::string timeout = "3s";
  std::string resolve = "2s";
  std::string vanish = "4s";
  bool cli = false;  // by Slurm's commands in place of slurmrestd
};

// The line of the options of plain jobs, with `others` among them: newer versions of slurmrestd do
// not say which partition is the default, and a site that is to choose widths names it.
std::string plain_options(const std::string& others = "");

// The lines of the site's configuration.
std::string site_lines(const SlurmBed& bed, const SiteOptions& options = {});

// A copy in this folder that the jobs' user may run. In another Debian it runs with this one's
// libraries.
std::string program_for_jobs(const std::string& program, const std::string& folder);

class SlurmQueue : public QueueAtWork {
 public:
  explicit SlurmQueue(const SlurmBed& bed, const SiteOptions& options = {});
  ~SlurmQueue();  // and of its jobs

  // One more micrograph, with `margay enqueue`'s options; returns the item's number.
  int enqueue(const std::vector<std::string>& options = {});
  // The output of `margay show --json`; throws when it fails.
  nlohmann::json item(int number) const;
  std::string state_of(int number) const { return item(number).at("state"); }
  // The newest attempt; null when there is none yet.
  nlohmann::json attempt(int number) const;
  // State, job and reason of the newest attempt; "" when there is none.
  std::string attempt_state(int number) const;
  std::string job_of(int number) const;
  std::string reason_of(int number) const;
  // Wait for it. Slurm appends details to some reasons: "ReqNodeNotAvail, UnavailableNodes:n04".
  bool comes_to(int number, const std::string& attempt_state) const;
  bool waits_for(int number, const std::string& reason) const;
  // The output of `margay show`.
  std::string shown(int number) const;

 private:
  const SlurmBed& bed_;
  int micrographs_ = 0;
};

}  // namespace tests
