// Implements shape_problem.h: what a shape asks for, compared with QOS and associations.
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"
#include "slurm/shape_problem.h"

namespace slurm {
namespace {

constexpr const char* kNode = "node";  // in Tres

// One thing that is counted, as a shape's jobs ask for it. 0: it is not known how much.
struct Resource {
  std::string name{};  // Slurm's, in Tres
  std::string need{};  // in ShapeNeeds::sources
  std::string unit{};
  int64_t of_node = 0;
  int64_t of_job = 0;

  std::string text(int64_t count) const {
    return name == "mem" ? megabytes_text(count) : base::counted(count, unit);
  }
};

std::array<Resource, 4> resources_of(const ShapeNeeds& needs) {
  const int64_t nodes = needs.nodes;
  return {{{.name = "cpu",
            .need = "cpus",
            .unit = "CPU",
            .of_node = needs.cpus,
            .of_job = needs.cpus * nodes},
           {.name = "mem",
            .need = "mem",
            .of_node = needs.memory_mb,
            .of_job = needs.memory_mb * nodes},
           {.name = "gres/gpu",
            .need = "gpus",
            .unit = "GPU",
            .of_node = needs.gpus,
            .of_job = needs.gpus * nodes},
           {.name = kNode, .need = "nodes", .unit = "node", .of_node = 1, .of_job = nodes}}};
}

struct Limit {
  std::string of{};  // "MaxWall of QOS 'brief'"
  int64_t most = 0;
};

// The value that one of them has, if it has any.
using Value = std::optional<int64_t> (*)(const JobLimits& limits, const std::string& resource);

std::optional<int64_t> count_of(const Tres& tres, const std::string& resource) {
  const auto found = tres.find(resource);
  return found == tres.end() ? std::nullopt : std::optional(found->second);
}

// A limit that may be a QOS's and an association's.
struct LimitKind {
  const char* name = "";  // as sacctmgr has it
  Value value = nullptr;
  bool adds_up = false;  // over the accounts: each of them limits
};

constexpr LimitKind kWall{
    "MaxWall", [](const JobLimits& limits, const std::string&) { return limits.most_minutes; }};
constexpr LimitKind kSubmitted{"MaxSubmitJobs", [](const JobLimits& limits, const std::string&) {
                                 return limits.most_submitted;
                               }};
constexpr LimitKind kOfJob{"MaxTRESPerJob",
                           [](const JobLimits& limits, const std::string& resource) {
                             return count_of(limits.of_job, resource);
                           }};
constexpr LimitKind kOfNode{"MaxTRESPerNode",
                            [](const JobLimits& limits, const std::string& resource) {
                              return count_of(limits.of_node, resource);
                            }};
constexpr LimitKind kOfUser{"MaxTRESPerUser",
                            [](const JobLimits& limits, const std::string& resource) {
                              return count_of(limits.of_user, resource);
                            }};
constexpr LimitKind kOfAll{"GrpTRES",
                           [](const JobLimits& limits, const std::string& resource) {
                             return count_of(limits.of_all, resource);
                           },
                           true};

// The tightest that counts.
std::optional<Limit> limit_of(const LimitsOfJob& job, const LimitKind& kind,
                              const std::string& resource = "") {
  const auto limit = [&](const LimitedBy& by) -> std::optional<Limit> {
    const auto most = kind.value(by.limits, resource);
    if (!most) return std::nullopt;
    return Limit{.of = std::string(kind.name) + " of " + by.name, .most = *most};
  };
  for (const LimitedBy& by : job.by_qos) {
    if (auto found = limit(by)) return found;
  }
  std::optional<Limit> tightest;
  for (const LimitedBy& by : job.by_association) {
    const auto found = limit(by);
    if (!found) continue;
    if (!tightest || found->most < tightest->most) tightest = found;
    if (!kind.adds_up) break;
  }
  return tightest;
}

void judge_wall(const ShapeNeeds& needs, const LimitsOfJob& job, AccountingProblems& problems) {
  const auto limit = limit_of(job, kWall);
  if (!limit || needs.minutes == 0) return;
  if (needs.minutes > 0 && needs.minutes <= limit->most) return;
  problems.never.push_back({.says = "asks for " + minutes_text(needs.minutes) + ", and " +
                                    limit->of + " is " + minutes_text(limit->most),
                            .need = "time"});
}

// What one job or one node of it may have.
void judge_share(const Resource& resource, int64_t asked, const std::string& each,
                 const std::optional<Limit>& limit, AccountingProblems& problems) {
  if (!limit || asked <= limit->most) return;
  problems.never.push_back({.says = "asks for " + resource.text(asked) + each + ", and " +
                                    limit->of + " is " + resource.text(limit->most),
                            .need = resource.need});
}

// What all jobs of the user, the QOS or the account may have together. Slurm counts a node that
// several of them share once, so it is not known how many jobs fit in a number of nodes.
void judge_sum(const ShapeNeeds& needs, const Resource& resource, const std::optional<Limit>& limit,
               AccountingProblems& problems) {
  judge_share(resource, resource.of_job, " a job", limit, problems);
  if (resource.name == kNode) return;
  if (!limit || resource.of_job == 0 || resource.of_job > limit->most) return;
  const int64_t at_once = limit->most / resource.of_job;
  if (at_once >= needs.waiting) return;
  problems.slow.push_back({.says = limit->of + " is " + resource.text(limit->most) + ": at most " +
                                   std::to_string(at_once) + " of its jobs run at once",
                           .need = resource.need});
}

void judge_submitted(const ShapeNeeds& needs, const LimitsOfJob& job,
                     AccountingProblems& problems) {
  const auto limit = limit_of(job, kSubmitted);
  if (!limit || limit->most >= needs.jobs) return;
  const std::string says = limit->of + " is " + std::to_string(limit->most);
  if (limit->most < 1) {
    problems.never.push_back({.says = says + ": Slurm takes no job there", .need = "qos"});
  } else {
    problems.slow.push_back({.says = says + ", and Margay may have " + std::to_string(needs.jobs) +
                                     " jobs in Slurm at once",
                             .need = "jobs"});
  }
}

}  // namespace

std::string megabytes_text(int64_t mb) {
  if (mb < 1024) return std::to_string(mb) + " MB";
  char text[40] = {};
  std::snprintf(text, sizeof text, "%.4g GB", static_cast<double>(mb) / 1024);
  return text;
}

std::string minutes_text(int64_t minutes) {
  if (minutes < 0) return "unlimited time";
  if (minutes < 120) return std::to_string(minutes) + " min";
  const int64_t rest = minutes % 60;
  return std::to_string(minutes / 60) + " h" +
         (rest == 0 ? "" : " " + std::to_string(rest) + " min");
}

AccountingProblems problems_of_accounting(const ShapeNeeds& needs, const LimitsOfJob& limits) {
  AccountingProblems problems;
  judge_wall(needs, limits, problems);
  for (const Resource& resource : resources_of(needs)) {
    judge_share(resource, resource.of_job, " a job", limit_of(limits, kOfJob, resource.name),
                problems);
    judge_share(resource, resource.of_node, " a node", limit_of(limits, kOfNode, resource.name),
                problems);
    judge_sum(needs, resource, limit_of(limits, kOfUser, resource.name), problems);
    judge_sum(needs, resource, limit_of(limits, kOfAll, resource.name), problems);
  }
  judge_submitted(needs, limits, problems);
  return problems;
}

}  // namespace slurm
