// The folder of an attempt as its job uses it. It needs nothing but the file system that the nodes
// share:
//
//   ../current    the attempt that may run (the fence), raised by the daemon
//   claim/owner   the run that works here: mkdir of `claim` is the claim
//   manifest.json the attempt is done
//   faults/       how each rank that failed ended: a file of its number, and `first`
//   failed_host   which host is to blame, for a job on several
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "slurm/job/job_rules.h"

namespace slurm {

enum class Beginning {
  kOurs,    // the claim is taken: the search may begin
  kDone,    // the attempt has its result
  kFenced,  // a newer attempt has begun
  kTaken,   // another run holds the claim
};

class AttemptClaim {
 public:
  // `folder` is <item>/a<number>.
  AttemptClaim(std::filesystem::path folder, int number)
      : folder_(std::move(folder)), number_(number) {}

  const std::filesystem::path& folder() const { return folder_; }
  bool has_newer_attempt() const;
  Beginning begin(const JobIdentity& identity) const;

  // Makes the folder of this run's faults, empty. Throws std::filesystem::filesystem_error.
  void clear_faults() const;
  // The fault of the first rank that failed; nullopt when none has.
  std::optional<RankFault> first_fault() const;
  // The host on which this rank failed; empty: it did not, or the host is not known.
  std::string host_of_fault(const std::string& rank) const;
  // Writes `failed_host`, which the daemon reads if the job has several hosts. An empty name blames
  // none.
  void blame_host(const std::string& host) const;
  std::string log() const;
  // The attempt's own checkpoint; empty: there is none.
  std::string own_checkpoint() const;

 private:
  bool take_claim(const JobIdentity& identity) const;

  std::filesystem::path folder_;
  int number_;
};

// Writes `fault` into the rank's file in the folder `faults`, and into `first` unless that exists.
void record_fault(const std::filesystem::path& faults, int rank, const RankFault& fault);

}  // namespace slurm
