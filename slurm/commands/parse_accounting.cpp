// Implements parse.h: what slurmdbd has as sacctmgr prints it.
#include <array>

#include "base/parse_number.h"
#include "base/text.h"
#include "slurm/commands/parse.h"
#include "slurm/sbatch/values.h"

namespace slurm {
namespace {

constexpr char kColumn = '|';

enum QosColumn : size_t {
  kQosName,
  kQosFlags,
  kQosWall,
  kQosOfJob,
  kQosOfNode,
  kQosOfUser,
  kQosOfAll,
  kQosSubmitted,
  kQosColumns
};
constexpr std::array<const char*, kQosColumns> kQosNames = {
    "Name",           "Flags",          "MaxWall", "MaxTRES",
    "MaxTRESPerNode", "MaxTRESPerUser", "GrpTRES", "MaxSubmitJobsPerUser"};

enum AssociationColumn : size_t {
  kCluster,
  kAccount,
  kUser,
  kPartition,
  kParent,
  kQos,
  kDefaultQos,
  kWall,
  kOfJob,
  kOfNode,
  kOfAll,
  kSubmitted,
  kAssociationColumns
};
constexpr std::array<const char*, kAssociationColumns> kAssociationNames = {
    "Cluster",    "Account", "User",    "Partition",      "ParentName", "QOS",
    "DefaultQOS", "MaxWall", "MaxTRES", "MaxTRESPerNode", "GrpTRES",    "MaxSubmitJobs"};

std::optional<int64_t> minutes_in(const std::string& wall) {
  const auto seconds = parse_time(wall);
  // Unlike sbatch's, a time of 0 is no time at all.
  if (wall == "00:00:00") return 0;
  if (!seconds || *seconds < 0) return std::nullopt;
  return *seconds / 60;
}

// "cpu=9,mem=1T,gres/gpu=2"
Tres tres_in(const std::string& list) {
  Tres tres;
  for (const std::string& entry : base::split(list, ',')) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = entry.substr(0, equals);
    const std::string value = entry.substr(equals + 1);
    const auto count = name == "mem" ? parse_memory(value) : base::parse_number<int64_t>(value);
    if (count && *count >= 0) tres[name] = *count;
  }
  return tres;
}

Names words_in(const std::string& list) {
  Names words;
  for (const std::string& word : base::split(list, ',')) {
    if (!word.empty()) words.insert(word);
  }
  return words;
}

QosFacts qos_of(const std::vector<std::string>& columns) {
  const Names flags = words_in(columns[kQosFlags]);
  return {.limits = {.most_minutes = minutes_in(columns[kQosWall]),
                     .of_job = tres_in(columns[kQosOfJob]),
                     .of_node = tres_in(columns[kQosOfNode]),
                     .of_user = tres_in(columns[kQosOfUser]),
                     .of_all = tres_in(columns[kQosOfAll]),
                     .most_submitted = base::parse_number<int64_t>(columns[kQosSubmitted])},
          .lifts_time = flags.contains("PartitionTimeLimit"),
          .lifts_nodes = flags.contains("PartitionMaxNodes"),
          .over_partition = flags.contains("OverPartQOS")};
}

Association association_of(const std::vector<std::string>& columns) {
  return {.cluster = columns[kCluster],
          .account = columns[kAccount],
          .user = columns[kUser],
          .partition = columns[kPartition],
          .parent = columns[kParent],
          .qos = words_in(columns[kQos]),
          .default_qos = columns[kDefaultQos],
          .limits = {.most_minutes = minutes_in(columns[kWall]),
                     .of_job = tres_in(columns[kOfJob]),
                     .of_node = tres_in(columns[kOfNode]),
                     .of_all = tres_in(columns[kOfAll]),
                     .most_submitted = base::parse_number<int64_t>(columns[kSubmitted])}};
}

// Of the lines that have as many.
std::vector<std::vector<std::string>> table_of(std::string_view text, size_t columns) {
  std::vector<std::vector<std::string>> table;
  for (const std::string& line : base::split(std::string(text), '\n')) {
    auto row = base::split(line, kColumn);
    if (row.size() == columns) table.push_back(std::move(row));
  }
  return table;
}

Words show(const std::string& what, const std::string& format) {
  return {"--noheader", "--parsable2", "show", what, "format=" + format};
}

}  // namespace

Words qos_arguments() { return show("qos", base::joined(kQosNames, ",")); }

QosByName parse_qos_text(std::string_view text) {
  QosByName qos;
  for (const auto& columns : table_of(text, kQosColumns)) qos[columns[kQosName]] = qos_of(columns);
  return qos;
}

Words default_account_arguments(const std::string& user) {
  Words words = show("user", "DefaultAccount");
  words.insert(words.begin() + 4, user);
  return words;
}

Words association_arguments(const std::string& cluster) {
  Words words = show("associations", base::joined(kAssociationNames, ","));
  if (!cluster.empty()) words.insert(words.begin() + 4, "cluster=" + cluster);
  return words;
}

AssociationFacts parse_associations_text(std::string_view text, const std::string& user) {
  AssociationFacts facts;
  for (const auto& columns : table_of(text, kAssociationColumns)) {
    if (columns[kUser].empty() || columns[kUser] == user) {
      facts.all.push_back(association_of(columns));
    }
  }
  return facts;
}

}  // namespace slurm
