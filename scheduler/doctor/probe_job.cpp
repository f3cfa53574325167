#include "scheduler/doctor/probe_job.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

#include "base/selftest_text.h"
#include "base/untrusted_file.h"
#include "scheduler/script/job_script.h"
#include "scheduler/script/substitute.h"
#include "slurm/job_states.h"
#include "slurm/site_facts.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using slurm::Finding;
using Report = std::map<std::string, std::string>;

constexpr int64_t kClockTolerance = 2;  // seconds
constexpr size_t kLogEnd = 300;         // bytes of a failed job's output that are shown
constexpr size_t kLongestReport = 64 << 10;
constexpr int kLooksAtItsEnd = 10;
constexpr int64_t kTimedOut = 124;  // exit code of timeout

constexpr const char* kScript = R"sh(#!/bin/bash
folder={{folder}}
{
  echo "host=$HOSTNAME"
  echo "user=$(id -un)"
  echo "engine=$(timeout 20 {{engine}} --version 2>&1 | head -n 1)"
  echo "listed=$(timeout 20 nvidia-smi -L 2>/dev/null | wc -l)"
  echo "devices=$(ls /dev/nvidia[0-9]* 2>/dev/null | wc -l)"
  selftest=$(timeout 40 {{engine}} selftest --backend {{backend}} 2>&1)
  echo "selftest_code=$?"
  echo "selftest=$(printf '%s\n' "$selftest" | tail -n 1)"
  echo "time=$(date +%s)"
} > "$folder/report.new" && mv "$folder/report.new" "$folder/report"
)sh";

std::optional<Report> read_report(const std::string& folder) {
  const auto text = base::read_untrusted_in(folder, "report", kLongestReport);
  if (!text) return std::nullopt;
  Report report;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) report[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return report;
}

// "first; second"
std::string one_line(const std::string& text) {
  std::string line;
  std::istringstream lines(text);
  for (std::string part; std::getline(lines, part);) {
    if (!part.empty()) line += (line.empty() ? "" : "; ") + part;
  }
  return line;
}

int64_t number(const Report& report, const std::string& key) {
  const auto found = report.find(key);
  int64_t value = 0;
  if (found != report.end()) std::istringstream(found->second) >> value;
  return value;
}

std::string text(const Report& report, const std::string& key) {
  const auto found = report.find(key);
  return found == report.end() ? "" : found->second;
}

// The type of GPU that is asked for, in "gpu:a100:4", "a100:4", "gpu:4" or "4".
std::string gpu_type(const slurm::Resources& resources) {
  for (const std::string* asked :
       {&resources.gres, &resources.gpus, &resources.gpus_per_node, &resources.gpus_per_task}) {
    std::string piece = asked->substr(0, asked->find(','));
    if (piece.starts_with("gpu:")) piece = piece.substr(4);
    const size_t colon = piece.find(':');
    if (colon != std::string::npos) return piece.substr(0, colon);
  }
  return "";
}

class Probe {
 public:
  Probe(const Config& config, const Clock& clock, slurm::Cluster& cluster,
        const ProbeOptions& options)
      : config_(config),
        clock_(clock),
        cluster_(cluster),
        options_(options),
        folder_(config.jobs() + "/.doctor/" + options.name) {}

  ~Probe() {
    std::error_code ignored;  // a folder that is left over does no harm
    fs::remove_all(folder_, ignored);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  std::vector<Finding> run() {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) {
      findings_.bad("jobs' folder", "'" + folder_ + "' cannot be made: " + error.message(),
                    "let the daemon's user write in '" + config_.jobs() + "'");
      return findings_.all();
    }
    submitted_ = clock_.now();
    if (!submit()) return findings_.all();
    wait();
    judge();
    clear_up();
    return findings_.all();
  }

 private:
  std::string script() const {
    const std::string text =
        render_script(kScript, "the doctor's job",
                      {{"folder", folder_}, {"engine", config_.engine}, {"backend", backend()}});
    if (facts_of(config_.cluster).takes_options) {
      return slurm::with_directives(text, probe_directives(options_.asks));
    }
    return wants_gpus() ? slurm::with_directives(text, {{"gres", "gpu:1"}}) : text;
  }

  bool submit() {
    const slurm::SubmitResult answer = cluster_.submit({.name = options_.name,
                                                        .comment = R"({"margay":"doctor"})",
                                                        .script = script(),
                                                        .directory = folder_,
                                                        .output_path = folder_ + "/job.log",
                                                        .environment = job_environment(config_)});
    for (const std::string& warning : answer.warnings) {
      findings_.warn("job", "the cluster warned: " + warning, "");
    }
    switch (answer.outcome) {
      case slurm::SubmitOutcome::kAccepted:
        job_.job_id = answer.job_id;
        return true;
      case slurm::SubmitOutcome::kRejected:
        findings_.bad("job", "the cluster refused it: " + answer.message,
                      "no search can start until this is fixed");
        return false;
      case slurm::SubmitOutcome::kUnknown:
        findings_.bad("job", "it is not known whether the cluster took it: " + answer.message,
                      "if it is there, it ends by itself; its name is " + options_.name);
        return false;
    }
    return false;
  }

  void look() {
    if (!report_) report_ = read_report(folder_);
    if (report_ && seen_ == 0) seen_ = clock_.now();
    for (const slurm::JobStatus& job : cluster_.states().jobs) {
      if (job.job_id == job_.job_id && job.name == options_.name) job_ = job;
    }
  }

  void wait() {
    for (auto waited = std::chrono::milliseconds(0); waited <= options_.timeout;
         waited += options_.poll) {
      look();
      if (report_ || is_over(job_.state)) break;
      options_.sleep(options_.poll);
    }
    // A file server that caches may show the report only after the end of the job.
    for (int i = 0; i < kLooksAtItsEnd && !(report_ && is_over(job_.state)); ++i) {
      if (!report_ && !is_over(job_.state)) break;
      options_.sleep(options_.poll);
      look();
    }
  }

  void judge() {
    if (report_) return judge_report();
    const std::string where = job_.host.empty() ? "" : " on " + job_.host;
    if (is_over(job_.state)) {
      const std::string log = one_line(base::read_end_untrusted_in(folder_, "job.log", kLogEnd));
      findings_.bad(
          "job",
          "job " + job_.job_id + " ran" + where + " (" + state_words() + ") and left nothing in '" +
              config_.jobs() + "'" + (log.empty() ? "" : "; it printed: " + log),
          "that folder must be the same on every node, and writable for the user in whose name "
          "jobs run (the token's)");
      return;
    }
    if (job_.state == slurm::JobState::kPending) return judge_waiting();
    findings_.warn("job",
                   "job " + job_.job_id + where + " did not end in time (" + state_words() +
                       "); it was cancelled",
                   "");
  }

  void judge_waiting() {
    const std::string says = "job " + job_.job_id + " did not start in time: " + state_words() +
                             "; it was cancelled, and what a job sees is not known";
    const std::string& reason = job_.reason;
    if (slurm::needs_somebody(reason)) {
      findings_.bad("job", says,
                    "no search would start: correct the partition, account, QOS or limit that "
                    "Slurm names (" +
                        reason + ") in slurm.options, or at the site");
    } else if (reason.starts_with("Assoc") || reason.starts_with("QOS")) {
      findings_.warn(
          "job", says,
          "ask again when other jobs have ended, or have the limit raised (" + reason + ")");
    } else {
      findings_.warn("job", says, "ask again when the cluster is less busy");
    }
  }

  std::string state_words() const {
    std::string words = job_.words.empty() ? "no state seen" : job_.words;
    if (!job_.reason.empty() && job_.reason != "None") {
      words += ", " + slurm::meaning_of_reason(job_.reason);
    }
    return words;
  }

  void judge_report() {
    findings_.good("job", "job " + job_.job_id + " ran on " + text(*report_, "host") + " as user " +
                              text(*report_, "user"));
    findings_.good("jobs' folder", "'" + config_.jobs() + "' can be written from a job");
    judge_engine();
    judge_selftest();
    judge_gpus();
    judge_clock();
  }

  void judge_engine() {
    const std::string version = text(*report_, "engine");
    if (!version.starts_with("margay-engine")) {
      findings_.bad("engine in a job", "'" + config_.engine + "' does not run there: " + version,
                    "set 'engine' to a path that every node has");
    } else if (!options_.engine_version.empty() && version != options_.engine_version) {
      findings_.warn("engine in a job", version + " there, " + options_.engine_version + " here",
                     "install the same version everywhere");
    } else {
      findings_.good("engine in a job", version);
    }
  }

  // As the searches have it; on this machine without GPUs, the engine's own choice.
  std::string backend() const {
    if (!facts_of(config_.cluster).takes_options) return wants_gpus() ? "cuda" : "auto";
    if (options_.backend == EngineBackend::kAuto) return wants_gpus() ? "cuda" : "cpu";
    return options_.backend == EngineBackend::kCuda ? "cuda" : "cpu";
  }

  // An engine that does not run at all is a finding of its own.
  void judge_selftest() {
    if (!text(*report_, "engine").starts_with("margay-engine")) return;
    const int64_t code = number(*report_, "selftest_code");
    const std::string last = text(*report_, "selftest");
    const std::string end = last.empty() ? "" : ": " + last;
    const std::string command = "margay-engine selftest --backend " + backend();
    if (code == 0) {
      findings_.good("self-test in a job", "ended with 0" + end);
    } else {
      findings_.bad(
          "self-test in a job",
          (code == kTimedOut ? "did not end within 40 s" : "ended with " + std::to_string(code)) +
              end,
          last.find(base::kNoKnownAnswers) != std::string::npos
              ? "install the engine there with its share/margay/selftest: a job on a GPU begins "
                "with the self-test"
              : "every search would fail there: run `" + command + "` on " +
                    text(*report_, "host") + ", and check the device and its driver");
    }
  }

  void judge_gpus() {
    if (!wants_gpus()) return;
    const int64_t seen = std::max(number(*report_, "listed"), number(*report_, "devices"));
    if (seen > 0) {
      findings_.good("GPUs in a job", std::to_string(seen) + " seen");
    } else {
      findings_.warn(
          "GPUs in a job",
          "the job asked for one and saw none: neither nvidia-smi nor /dev/nvidia* show any",
          "check the driver on " + text(*report_, "host"));
    }
  }

  bool wants_gpus() const {
    if (!facts_of(config_.cluster).takes_options) return config_.local.gpus_of_search() > 0;
    return slurm::gpus_of(slurm::resources_of(options_.asks, "the job script")) > 0;
  }

  // The job ran after it was submitted and before its report was seen.
  void judge_clock() {
    const int64_t time = number(*report_, "time");
    const int64_t behind = submitted_ - time;
    const int64_t ahead = time - seen_;
    const int64_t off = std::max(behind, ahead);
    if (off <= kClockTolerance) {
      findings_.good("clock", "the job's host and this machine agree");
      return;
    }
    findings_.warn("clock",
                   "the clock of " + text(*report_, "host") + " is " + std::to_string(off) + " s " +
                       (behind > ahead ? "behind" : "ahead of") + " this machine's",
                   "synchronise both by NTP: munge refuses a difference of some minutes");
  }

  void clear_up() {
    if (!is_over(job_.state)) cluster_.cancel(job_.job_id);
    if (is_over(job_.state)) cluster_.forget(job_.job_id);
  }

  const Config& config_;
  const Clock& clock_;
  slurm::Cluster& cluster_;
  const ProbeOptions& options_;
  std::string folder_;
  slurm::JobStatus job_;
  std::optional<Report> report_;
  int64_t submitted_ = 0;
  int64_t seen_ = 0;
  slurm::Findings findings_;
};

}  // namespace

slurm::Directives probe_directives(const slurm::Directives& asks) {
  slurm::Directives directives = {
      {"nodes", "1"}, {"ntasks", "1"}, {"cpus-per-task", "1"}, {"mem", "1G"}, {"time", "2"}};
  for (const char* name : {"partition", "account", "qos", "reservation", "constraint"}) {
    const auto found = asks.find(name);
    if (found != asks.end()) directives.insert(*found);
  }
  const slurm::Resources resources = slurm::resources_of(asks, "the job script");
  if (slurm::gpus_of(resources) > 0) {
    const std::string type = gpu_type(resources);
    directives["mem"] = "4G";
    directives["gres"] = "gpu:" + (type.empty() ? "" : type + ":") + "1";
  }
  return directives;
}

std::vector<Finding> run_probe_job(const Config& config, const Clock& clock,
                                   slurm::Cluster& cluster, const ProbeOptions& options) {
  return Probe(config, clock, cluster, options).run();
}

}  // namespace scheduler
