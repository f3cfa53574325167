// margay-job: what a job does besides the search. It runs on every compute node and needs nothing
// there but libc.
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "base/command_pages.h"
#include "base/output.h"
#include "slurm/job/job_arguments.h"
#include "slurm/job/job_page.h"
#include "slurm/job/job_rules.h"
#include "slurm/job/local_job.h"
#include "slurm/job/run_attempt.h"
#include "slurm/job/run_rank.h"

namespace {

constexpr const char* kUsage =
    "usage: margay-job run --attempt FOLDER --number N [--probe] [--resume FILE] [--batch N]\n"
    "                      -- [LAUNCHER... margay-job rank ... --] margay-engine match ...\n"
    "       margay-job rank --attempt FOLDER [--per-task N] -- COMMAND...\n"
    "       margay-job local FOLDER\n"
    "\n"
    "run    Run the search of an attempt: claim its folder, probe the device, pass on requests to\n"
    "       stop, resume from a checkpoint. Ends with the code of the first rank that failed.\n"
    "rank   Run one rank of the engine, or N, and record how and where it failed.\n"
    "local  Run one job of the local cluster; margayd starts it.\n"
    "\n"
    "The job scripts that margayd renders have the first two (docs/slurm.md).\n";

int refuse(const std::string& why) {
  std::fprintf(stderr, "margay-job: %s; see margay-job --help\n", why.c_str());
  return slurm::kBadUsage;
}

// What is asked for by an option alone; nullopt: nothing is.
std::optional<std::string> page_asked_for(const std::string& option) {
  if (option == "--help" || option == "-h") return kUsage;
  if (option == "--version" || option == "-V") return "margay-job " MARGAY_VERSION "\n";
  if (option == "--man-page") {
    return base::man_page(slurm::job_page(), 1, MARGAY_VERSION, {"margay-engine(1)", "margayd(8)"});
  }
  if (option == "--bash-completion") return base::bash_completion(slurm::job_page());
  return std::nullopt;
}

int print(const std::string& page) {
  std::fputs(page.c_str(), stdout);
  if (base::flush_output()) return 0;
  std::fprintf(stderr, "margay-job: %s\n", base::kOutputLost);
  return slurm::kCannotRun;
}

int run(const std::string& role, const slurm::Words& words) {
  if (role == "run") return slurm::run_attempt(slurm::parse_run(words));
  if (role == "rank") return slurm::run_rank(slurm::parse_rank(words));
  if (role == "local") {
    if (words.size() != 1) return refuse("local takes one folder");
    return slurm::start_local_job(words.front());
  }
  return refuse("unknown role '" + role + "'");
}

}  // namespace

int main(int argc, char** argv) {
  const slurm::Words words(argv + 1, argv + argc);
  if (words.empty()) return refuse("no role given");
  const bool has_role = words[0] == "run" || words[0] == "rank" || words[0] == "local";
  const bool asks_for_help = words.size() == 2 && (words[1] == "--help" || words[1] == "-h");
  if (has_role && asks_for_help) return print(kUsage);
  if (const auto page = page_asked_for(words.front())) return print(*page);
  try {
    return run(words.front(), {words.begin() + 1, words.end()});
  } catch (const slurm::UsageError& error) {
    return refuse(words.front() + ": " + error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "margay-job: %s\n", error.what());
    return slurm::kCannotRun;
  }
}
