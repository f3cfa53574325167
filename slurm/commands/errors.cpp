// Implements parse.h: sbatch's and scancel's messages, which carry no error number.
#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "slurm/commands/parse.h"
#include "slurm/refusals.h"

namespace slurm {
namespace {

constexpr std::string_view kFailed = "Batch job submission failed: ";

// sbatch's own refusals, before it has asked slurmctld.
constexpr std::string_view kBeforeAsking[] = {
    "unrecognized option",
    "invalid option -- ",
    "requires an argument",
    "Invalid --",
    "Invalid generic resource (gres) specification",
    "Failed to validate job spec",
    "mutually exclusive",
    "is less than minimum node count",
    "Unable to open file",
    "This does not look like a batch script",
    "Batch script is empty",
    "Batch script contains DOS line breaks",
    "Unable to process configuration file",
    "Could not establish a configuration source",
    "or it is an invalid entry for --cluster",
    "REQUEST_SUBMIT_BATCH_JOB has authentication error",
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// The number in a complete line "123" or "123;cluster".
std::string job_id_in(std::string_view output) {
  std::string id;
  while (const size_t end = output.find('\n') + 1) {
    const std::string_view line = output.substr(0, end - 1);
    const std::string_view number = line.substr(0, line.find(';'));
    if (number != "0" && base::is_digits(number)) id = number;
    output.remove_prefix(end);
  }
  return id;
}

// "sbatch: error: text" -> "text".
std::string_view without_sender(std::string_view line) {
  for (const std::string_view sender :
       {"sbatch: ", "squeue: ", "sacct: ", "scancel: ", "scontrol: ", "sinfo: ", "sacctmgr: "}) {
    if (line.starts_with(sender)) line.remove_prefix(sender.size());
  }
  for (const std::string_view level : {"error: ", "fatal: "}) {
    if (line.starts_with(level)) line.remove_prefix(level.size());
  }
  return line;
}

Words lines_of(std::string_view text) {
  Words lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_sender(text.substr(0, end));
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string joined(const Words& lines, const std::string& between) {
  constexpr size_t kMost = 1000;
  std::string all;
  for (const std::string& line : lines) {
    if (all.size() > kMost) break;
    all += (all.empty() ? "" : between) + line;
  }
  return all;
}

// Slurm has one sentence for all limits; the line before it names the limit.
Refusal refusal_by_limit(std::string_view text) {
  for (const std::string_view of_the_moment : {"Submit", "GrpJobs", "MaxJobs"}) {
    if (contains(text, of_the_moment)) return Refusal::kBusy;
  }
  for (const std::string_view of_the_job : {"PerJob", "PerNode", "MaxWall", "MinCpu", "MinGRES"}) {
    if (contains(text, of_the_job)) return Refusal::kJob;
  }
  return Refusal::kBusy;
}

Refusal refusal_of(std::string_view error) {
  const size_t failed = error.find(kFailed);
  if (failed == error.npos) {
    const bool before = std::any_of(std::begin(kBeforeAsking), std::end(kBeforeAsking),
                                    [&](std::string_view text) { return contains(error, text); });
    return before ? Refusal::kConfiguration : Refusal::kNone;
  }
  const std::string_view answer = error.substr(failed + kFailed.size());
  // The request was not even packed.
  if (contains(error, kBeforeAsking[std::size(kBeforeAsking) - 1])) return Refusal::kConfiguration;
  if (answer.starts_with("Job violates accounting/QOS policy")) {
    return refusal_by_limit(error.substr(0, failed));
  }
  return refusal_of_sentence(answer);
}

// Slurm replaces %x and the like in a path of output; ours is literal. With a backslash anywhere in
// it nothing is replaced, and backslashes are taken out.
std::string literal_path(const std::string& path) {
  const char special = path.find('\\') == std::string::npos ? '%' : '\\';
  std::string result;
  for (const char c : path) result += c == special ? std::string(2, c) : std::string(1, c);
  return result;
}

}  // namespace

std::string complaint_of(const CommandResult& result) {
  const std::string said = joined(lines_of(result.error), "; ");
  if (said.empty()) return result.why;
  return result.ending == CommandResult::Ending::kTimedOut ? result.why + ": " + said : said;
}

std::string words_of(const CommandResult& result) {
  Words lines = lines_of(result.output);
  for (std::string& line : lines_of(result.error)) lines.push_back(std::move(line));
  return joined(lines, "\n");
}

// --export-file and --export=NONE would not do: a job would lack what sbatch itself adds
// (SLURM_JOB_NAME ...), or its steps would get no environment.
Words sbatch_arguments(const JobRequest& request, const std::string& chdir) {
  Words words = {"--parsable",
                 "--job-name=" + request.name,
                 "--output=" + literal_path(request.output_path),
                 "--dependency=singleton",
                 "--no-requeue",
                 "--export=ALL"};
  if (!chdir.empty()) words.push_back("--chdir=" + chdir);
  if (!request.comment.empty()) words.push_back("--comment=" + request.comment);
  if (request.hold) words.emplace_back("--hold");
  return words;
}

SubmitResult classify_sbatch(const CommandResult& result) {
  SubmitResult submitted;
  submitted.job_id = job_id_in(result.output);
  if (!submitted.job_id.empty()) {
    submitted.outcome = SubmitOutcome::kAccepted;
    submitted.warnings = lines_of(result.error);
    return submitted;
  }
  submitted.message = complaint_of(result);
  if (result.ending == CommandResult::Ending::kNotStarted) {
    submitted.refusal = Refusal::kConfiguration;
  } else if (result.ending == CommandResult::Ending::kEnded && result.signal == 0 &&
             result.exit_code != 0) {
    submitted.refusal = refusal_of(result.error);
  }
  if (submitted.refusal != Refusal::kNone) {
    submitted.outcome = SubmitOutcome::kRejected;
  } else if (submitted.message.empty()) {
    submitted.message = "sbatch succeeded but printed no job id";
  }
  return submitted;
}

// Of scancel --verbose, which reports an unknown job. A job that is ending is not gone yet.
CancelAnswer classify_scancel(const CommandResult& result) {
  if (result.ending != CommandResult::Ending::kEnded) return CancelAnswer::kFailed;
  if (contains(result.error, "Invalid job id")) return CancelAnswer::kGone;
  return result.exit_code == 0 ? CancelAnswer::kAsked : CancelAnswer::kFailed;
}

}  // namespace slurm
