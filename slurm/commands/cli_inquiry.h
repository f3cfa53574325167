// Asks Slurm's commands what the site has: for the doctor, and for the planner's facts.
#pragma once

#include <map>
#include <string>

#include "slurm/commands/cli_session.h"
#include "slurm/commands/parse.h"
#include "slurm/site_facts.h"

namespace slurm {

using Settings = std::map<std::string, std::string>;  // of parse_config()
// The setting's value; empty when there is none.
std::string setting_of(const Settings& settings, const std::string& name);

// One command for each question.
class CliInquiry {
 public:
  enum class Budget {
    kWithin,  // nothing is asked that would exceed this minute's requests
    kBeyond,  // questions may exceed the budget: a person waits for the answer
  };
  // `session` must outlive it.
  CliInquiry(CliSession& session, Budget budget) : session_(session), budget_(budget) {}

  Fact<std::map<std::string, PartitionFacts>> partitions();
  Fact<NodeTotals> nodes();
  // slurm.conf as the controller uses it.
  Fact<Settings> settings();
  // Runs at most four commands; none where slurm.accounting is off.
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
