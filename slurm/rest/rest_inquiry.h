// Asks slurmrestd what the site has: for the doctor, and for the planner's facts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "slurm/rest/rest_session.h"
#include "slurm/site_facts.h"

namespace slurm {

// Makes one request for each question, all for the same purpose.
class RestInquiry {
 public:
  // `session` must outlive it.
  RestInquiry(RestSession& session, ApiVersion version, RestSession::Purpose purpose)
      : session_(session), version_(version), purpose_(purpose) {}

  Fact<int64_t> controller_time();
  Fact<std::map<std::string, PartitionFacts>> partitions();
  Fact<NodeTotals> nodes();
  // Makes two requests, or none where accounting is not used.
  void ask_accounting(SiteFacts& facts);

 private:
  RestReply get(const std::string& path) { return session_.get(path, purpose_); }
  template <typename Parse>
  auto ask(const std::string& path, Parse parse);

  RestSession& session_;
  ApiVersion version_;
  RestSession::Purpose purpose_;
};

}  // namespace slurm
