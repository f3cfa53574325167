// Asks Slurm's commands what the site has: for the doctor, and for the planner's facts.
#pragma once

#include <map>
#include <string>

#include "slurm/commands/cli_session.h"
#include "slurm/commands/parse.h"
#include "slurm/site_facts.h"

namespace slurm {

using Settings = std::map<std::string, std::string>;  // of parse_config()
// Empty when it is not there.
std::string setting_of(const Settings& settings, const std::string& name);

// One command for each question.
class CliInquiry {
 public:
  enum class Budget {
    kWithin,  // what the requests of this minute do not allow is not asked
    kBeyond,  // for a person who waits
  };
  // `session` must outlive it.
  CliInquiry(CliSession& session, Budget budget) : session_(session), budget_(budget) {}

  Fact<std::map<std::string, PartitionFacts>> partitions();
  Fact<NodeTotals> nodes();
  // slurm.conf as the controller has it.
  Fact<Settings> settings();
  // At most four commands; none where slurm.accounting is off.
  void ask_accounting(const Settings& config, SiteFacts& facts);

 private:
  CommandResult run(const std::string& command, const Words& arguments);
  template <typename Parse>
  auto ask(const std::string& command, const Words& arguments, Parse parse);
  Fact<AssociationFacts> associations(const std::string& cluster);

  CliSession& session_;
  Budget budget_;
};

}  // namespace slurm
