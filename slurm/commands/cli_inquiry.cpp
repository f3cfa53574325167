#include "slurm/commands/cli_inquiry.h"

#include <string_view>

#include "base/text.h"

namespace slurm {
namespace {

// Of AccountingStorageEnforce.
bool enforces_limits(const std::string& words) {
  for (const std::string& word : base::split(base::lower(words), ',')) {
    if (word == "limits" || word == "safe" || word == "all") return true;
  }
  return false;
}

}  // namespace

std::string setting_of(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

CommandResult CliInquiry::run(const std::string& command, const Words& arguments) {
  if (budget_ == Budget::kBeyond) return session_.run_at_once(command, arguments);
  auto result = session_.run(command, arguments);
  return result ? *std::move(result) : CommandResult{.why = kNoBudget};
}

// What `parse` reads in the command's output, or why it failed.
template <typename Parse>
auto CliInquiry::ask(const std::string& command, const Words& arguments, Parse parse) {
  const CommandResult result = run(command, arguments);
  using Answer = Fact<decltype(parse(result.output))>;
  return result.ok() ? Answer{.value = parse(result.output)}
                     : Answer{.problem = complaint_of(result)};
}

Fact<std::map<std::string, PartitionFacts>> CliInquiry::partitions() {
  return ask("scontrol", {"--oneliner", "show", "partition"}, parse_partitions_text);
}

Fact<NodeTotals> CliInquiry::nodes() {
  return ask("sinfo", sinfo_node_arguments(), parse_sinfo_nodes);
}

Fact<Settings> CliInquiry::settings() { return ask("scontrol", {"show", "config"}, parse_config); }

Fact<AssociationFacts> CliInquiry::associations(const std::string& cluster) {
  const std::string user = session_.user();
  auto facts = ask("sacctmgr", association_arguments(cluster),
                   [&](std::string_view text) { return parse_associations_text(text, user); });
  const auto account = ask("sacctmgr", default_account_arguments(user),
                           [](std::string_view text) { return base::trimmed(text); });
  if (!account.value) return {.problem = account.problem};
  if (facts.value) facts.value->default_account = *account.value;
  return facts;
}

void CliInquiry::ask_accounting(const Settings& config, SiteFacts& facts) {
  const Accounting wanted = session_.options().accounting;
  if (wanted == Accounting::kOff) {
    facts.accounting_use = AccountingUse::kOff;
    return;
  }
  const CommandResult result =
      run("sacct", sacct_arguments(session_.options().name_prefix + "none", 1));
  const bool off = !result.ok() && says_accounting_is_off(result.error);
  if (!off || wanted == Accounting::kOn) facts.accounting_use = AccountingUse::kAsked;
  if (!result.ok()) {
    facts.accounting.problem = complaint_of(result);
    return;
  }
  facts.accounting.value = "sacct";
  facts.qos = ask("sacctmgr", qos_arguments(), parse_qos_text);
  facts.associations = associations(setting_of(config, "ClusterName"));
  const std::string enforced = setting_of(config, "AccountingStorageEnforce");
  if (!enforced.empty()) facts.enforces_limits = enforces_limits(enforced);
}

}  // namespace slurm
