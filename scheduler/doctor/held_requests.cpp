#include "scheduler/doctor/held_requests.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "scheduler/doctor/shape_needs.h"
#include "scheduler/script/job_script.h"
#include "slurm/job_states.h"
#include "slurm/site_facts.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using slurm::Directives;
using slurm::Finding;
using slurm::SubmitOutcome;

constexpr int kCancels = 3;  // requests for each job, until one is answered
constexpr int kWaits = 30;   // for a request of the site's budget, one poll each

struct HeldJob {
  JobShape shape{};
  Directives asks{};
  std::string name{};
  slurm::SubmitResult answer{};
  slurm::JobStatus status{};  // without an id until the job is known
};

// What decides whether Slurm takes and starts a job, and not whom it notifies.
Directives without_mail(Directives asks) {
  asks.erase("mail-user");
  asks.erase("mail-type");
  return asks;
}

std::string words_of(const Directives& asks) {
  std::string words;
  for (const auto& [option, value] : asks) {
    if (option == "signal") continue;
    words += (words.empty() ? "" : ", ") + option + (value.empty() ? "" : "=" + value);
  }
  return words;
}

// The keys of the configuration that it comes from; else the shape's script template.
std::string sources_of(const Config& config, const HeldJob& job) {
  std::string sources;
  for (const auto& [option, value] : job.asks) {
    const std::string source = source_of(config, job.shape, option);
    if (!source.starts_with("slurm.") && !source.starts_with("policy.")) continue;
    sources += (sources.empty() ? "" : ", ") + option + " is " + source;
  }
  return sources.empty() ? "see " + to_string(job.shape.shape) + ".sbatch" : sources;
}

class HeldRequests {
 public:
  HeldRequests(const Config& config, slurm::Cluster& cluster, const HeldOptions& options)
      : config_(config),
        cluster_(cluster),
        options_(options),
        folder_(config.jobs() + "/.doctor") {}
  // Whatever was thrown, no job is left that could be cancelled.
  ~HeldRequests() {
    try {
      for (HeldJob& job : jobs_) clear_up(job);
    } catch (const std::exception&) {
      // What is being thrown says more.
    }
  }
  HeldRequests(const HeldRequests&) = delete;
  HeldRequests& operator=(const HeldRequests&) = delete;

  std::vector<Finding> run(const std::vector<JobShape>& shapes) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) {
      findings_.bad("jobs' folder", "'" + folder_ + "' cannot be made: " + error.message(),
                    "let the daemon's user write in '" + config_.jobs() + "'");
      return findings_.all();
    }
    // What may throw comes before the first job.
    for (const JobShape& shape : shapes) {
      jobs_.push_back({.shape = shape,
                       .asks = without_mail(directives_of(config_, shape, {})),
                       .name = options_.name + "-" + to_string(shape.shape) +
                               (shape.priority ? "-" + to_string(*shape.priority) : "")});
    }
    for (HeldJob& job : jobs_) submit(job);
    look();
    for (HeldJob& job : jobs_) {
      judge(job);
      clear_up(job);
    }
    return findings_.all();
  }

 private:
  void submit(HeldJob& job) {
    job.answer = cluster_.submit({.name = job.name,
                                  .comment = R"({"margay":"doctor"})",
                                  .script = slurm::with_directives("#!/bin/bash\ntrue\n", job.asks),
                                  .directory = folder_,
                                  .output_path = "/dev/null",
                                  .environment = job_environment(config_),
                                  .hold = true});
    job.status.job_id = job.answer.job_id;
  }

  // Finds a job whose answer got lost by its name.
  void look() {
    options_.sleep(options_.poll);
    for (const slurm::JobStatus& listed : cluster_.states().jobs) {
      for (HeldJob& job : jobs_) {
        const bool refused = job.answer.outcome == SubmitOutcome::kRejected;
        if (!refused && listed.name == job.name) job.status = listed;
      }
    }
  }

  void judge(const HeldJob& job) {
    const std::string subject = "request of shape " + to_string(job.shape);
    for (const std::string& warning : job.answer.warnings) {
      findings_.warn(subject, "Slurm warned: " + warning, "");
    }
    if (job.answer.outcome == SubmitOutcome::kRejected) {
      judge_refusal(job, subject);
    } else if (job.status.job_id.empty()) {
      findings_.bad(subject,
                    "it is not known whether Slurm took the held job: " + job.answer.message,
                    "if it is there, it stays: scancel --name=" + job.name);
    } else {
      judge_reason(job, subject);
    }
  }

  void judge_refusal(const HeldJob& job, const std::string& subject) {
    const std::string says = "Slurm refuses (" + words_of(job.asks) + "): " + job.answer.message;
    if (job.answer.refusal == slurm::Refusal::kBusy) {
      findings_.warn(subject, says, "ask again when fewer jobs of this user and account wait");
    } else {
      findings_.bad(subject, says,
                    "no job of this shape can be submitted: correct it, or ask for less; " +
                        sources_of(config_, job));
    }
  }

  // That the doctor itself holds the job says nothing about it.
  void judge_reason(const HeldJob& job, const std::string& subject) {
    const std::string& reason = job.status.reason;
    const std::string asks = "(" + words_of(job.asks) + ")";
    const bool pending = job.status.state == slurm::JobState::kPending;
    if (pending && !reason.starts_with("JobHeldUser") && slurm::needs_somebody(reason)) {
      findings_.bad(subject,
                    "Slurm accepts " + asks + " and would never start it: " + reason + ", " +
                        slurm::meaning_of_reason(reason),
                    "correct it, or ask for less; " + sources_of(config_, job));
    } else {
      findings_.good(subject, "Slurm accepts " + asks);
    }
  }

  bool may_ask() {
    for (int i = 0; i < kWaits && cluster_.allowance() < 1; ++i) options_.sleep(options_.poll);
    return cluster_.allowance() > 0;
  }

  void clear_up(HeldJob& job) {
    const std::string id = std::exchange(job.status.job_id, "");
    if (id.empty()) return;
    bool gone = slurm::is_over(job.status.state);
    bool asked = gone;
    for (int i = 0; i < kCancels && !gone && may_ask(); ++i) {
      asked = true;
      gone = cluster_.cancel(id);
    }
    if (!asked) {
      findings_.bad(
          "request of shape " + to_string(job.shape),
          "its held job stays in Slurm: slurm.requests_per_minute left no request to cancel "
          "it",
          "scancel " + id);
    }
    cluster_.forget(id);
  }

  const Config& config_;
  slurm::Cluster& cluster_;
  const HeldOptions& options_;
  std::string folder_;
  std::vector<HeldJob> jobs_;
  slurm::Findings findings_;
};

}  // namespace

std::vector<Finding> try_held_requests(const Config& config, slurm::Cluster& cluster,
                                       const std::vector<JobShape>& shapes,
                                       const HeldOptions& options) {
  return HeldRequests(config, cluster, options).run(shapes);
}

}  // namespace scheduler
