// What slurmrestd answers: recorded from Slurm 22.05 and 24.11 (tests/data/slurm/fake), with the
// fake's own jobs put in. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/fakes/fake_slurm.h"
#include "tests/fakes/fake_submission.h"

namespace tests {

struct FakeAnswer {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
};

struct RecordedAnswer {
  std::string method;
  std::string path;
  nlohmann::json request;  // the body, null = none
  int status = 200;
  nlohmann::json answer;  // a string when it is not JSON
};

class FakeAnswers {
 public:
  // `release` is "22.05" or "24.11".
  explicit FakeAnswers(const std::string& release);

  // Oldest first.
  const std::vector<std::string>& versions() const { return versions_; }
  const RecordedAnswer& recorded(const std::string& name) const;

  FakeAnswer as_recorded(const std::string& name, const std::string& version) const;
  FakeAnswer submitted(const std::string& version, int64_t id, const FakeSubmission& what) const;
  FakeAnswer refused(const std::string& version, const FakeRefusal& refusal) const;
  // `shift` seconds are added to all times.
  FakeAnswer jobs(const std::string& version, const std::vector<FakeJob>& jobs,
                  int64_t shift) const;
  FakeAnswer accounting_jobs(const std::string& version, const std::vector<FakeJob>& jobs,
                             int64_t shift) const;
  FakeAnswer about_job(const std::string& recording, const std::string& version,
                       const std::string& id) const;
  FakeAnswer partitions(const std::string& version, const std::vector<std::string>& names) const;
  FakeAnswer nodes(const std::string& version, int count) const;
  FakeAnswer qos(const std::string& version) const;
  FakeAnswer associations(const std::string& version, const std::string& user) const;
  FakeAnswer openapi(bool accounting) const;
  FakeAnswer signal_refused(const std::string& version) const;

 private:
  bool oldest() const { return release_ == "22.05"; }
  std::string job_recording(const std::string& version) const;
  nlohmann::json empty(const std::string& version) const;
  nlohmann::json job(const std::string& version, const FakeJob& job, int64_t shift) const;
  nlohmann::json accounting_job(const FakeJob& job, int64_t shift) const;

  std::string release_;
  std::vector<std::string> versions_;
  std::map<std::string, RecordedAnswer> recordings_;
};

}  // namespace tests
