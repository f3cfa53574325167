#include "slurm/rest/rest_doctor.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include "slurm/rest/access_token.h"
#include "slurm/rest/json.h"
#include "slurm/rest/rest_inquiry.h"
#include "slurm/site_facts.h"

namespace slurm {
namespace {

constexpr int64_t kShortLife = 3600;  // seconds
constexpr const char* kTokenAdvice =
    "correct the token: it must be of this cluster's key and of the user whose jobs these are";

std::string duration_of(int64_t seconds) {
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / (24 * 3600)) + " days";
}

bool is_of_this_machine(const std::string& url) {
  const std::string rest = url.substr(std::min(url.size(), std::strlen("http://")));
  return rest.starts_with("127.") || rest.starts_with("localhost") || rest.starts_with("[::1]");
}

void check_address(const std::string& url, Findings& findings) {
  if (!url.starts_with("http://") || is_of_this_machine(url)) return;
  findings.warn("slurmrestd's address", url + " carries the token unencrypted over the network",
                "use a Unix socket or https, or make sure that nobody else is on that network");
}

void check_mode(const std::string& path, Findings& findings) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0 || (file.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) == 0) {
    return;
  }
  findings.warn("token", path + " can be read or changed by other users", "chmod 600 " + path);
}

void check_life(const TokenFacts& facts, int64_t now, Findings& findings) {
  if (!facts.expires) {
    findings.warn("token", "it never expires", "use a shorter life and renew the file");
    return;
  }
  const int64_t left = *facts.expires - now;
  const std::string when = date_of(*facts.expires);
  if (left <= 0) {
    findings.bad("token", "it expired on " + when, "put a new one into the file (scontrol token)");
  } else if (left < kShortLife) {
    findings.warn("token", "it expires in " + duration_of(left) + ", on " + when,
                  "have the file renewed before then");
  } else {
    findings.good("token", "valid for " + duration_of(left) + ", until " + when);
  }
}

void check_user(const TokenFacts& facts, const std::string& wanted, Findings& findings) {
  if (facts.user == "root" || facts.user == "slurm") {
    findings.warn("token",
                  "it is one of " + facts.user + ", and so as good as root on the whole cluster",
                  "use a token of the user whose jobs these are");
  }
  const std::string user = wanted.empty() ? facts.user : wanted;
  if (user.empty()) {
    findings.bad("user", "the token names no user", "set slurm.user");
  } else if (wanted.empty() || facts.user.empty() || wanted == facts.user) {
    findings.good("user", "jobs belong to " + user);
  } else {
    findings.good("user", "jobs belong to " + user + ", by a token of " + facts.user);
  }
}

// False: nothing can be asked with it.
bool check_token(RestSession& session, Findings& findings) {
  TokenFile* file = session.token_file();
  if (file == nullptr) {
    findings.good("token", "none is used (slurm.token_file is not set)");
    return true;
  }
  std::optional<TokenFacts> facts;
  try {
    facts = read_token_facts(file->token());
  } catch (const std::runtime_error& error) {
    findings.bad("token", error.what(),
                 "write a token of `scontrol token` there, readable by margayd alone");
    return false;
  }
  check_mode(file->path(), findings);
  if (!facts) {
    findings.bad("token", file->path() + " does not hold a JSON Web Token",
                 "write what `scontrol token` prints there");
    return false;
  }
  check_life(*facts, session.now(), findings);
  check_user(*facts, session.options().user, findings);
  return !facts->expires || *facts->expires > session.now();
}

bool check_version(RestSession& session, bool token_is_good, Findings& findings) {
  const auto version = session.version(RestSession::Purpose::kExamination);
  const std::string& url = session.options().http.url;
  if (!version) {
    const RestReply& failure = session.version_failure();
    findings.bad("slurmrestd", failure.why,
                 !token_is_good || failure.problem.trouble == Trouble::kToken
                     ? kTokenAdvice
                     : "check slurm.url, slurm.api_version and that slurmrestd runs");
    return false;
  }
  if (was_seen(*version)) {
    findings.good("slurmrestd", "answers at " + url + ", API " + word_of(*version));
  } else {
    findings.warn("slurmrestd",
                  "answers at " + url + ", API " + word_of(*version) +
                      ", which Margay knows from its documents alone",
                  "set slurm.api_version to an older one where it is offered");
  }
  return true;
}

// The controller is asked for its time only if it has answered a ping: each vain request to it
// takes 10 s or more.
SiteFacts facts_of(RestSession& session, ApiVersion version, bool controller_answers) {
  RestInquiry inquiry(session, version, RestSession::Purpose::kExamination);
  SiteFacts facts{.user = session.user(), .now = session.now()};
  if (controller_answers) facts.controller_time = inquiry.controller_time();
  facts.partitions = inquiry.partitions();
  inquiry.ask_accounting(facts);
  facts.nodes = inquiry.nodes();
  return facts;
}

bool check_controller(RestSession& session, const RestReply& ping, Findings& findings) {
  if (!ping.ok()) {
    findings.bad("controller", ping.why, "check slurmctld (scontrol ping)");
    return false;
  }
  const std::string release = slurm_release(ping.answer.body);
  session.note_release(release);
  findings.good("controller", "Slurm " + release + " answers");
  return true;
}

// No version of slurmrestd offers slurm.conf.
void check_limits(const RestSession& session, const Examination& what, Findings& findings) {
  const auto poll = what.poll.count() > 0 ? what.poll : session.options().poll;
  const auto polls = std::chrono::ceil<std::chrono::seconds>(3 * poll);
  findings.good("limits",
                "slurmrestd does not report MaxArraySize, MinJobAge and MessageTimeout: see "
                "`scontrol show config`; MinJobAge should be " +
                    std::to_string(polls.count()) +
                    " s at least, and MessageTimeout less than slurm.timeout");
}

}  // namespace

std::vector<Finding> examine_rest(RestSession& session, const Examination& what) {
  Findings findings;
  check_address(session.options().http.url, findings);
  const bool token_is_good = check_token(session, findings);
  if (!check_version(session, token_is_good, findings)) return findings.all();
  const ApiVersion version = *session.version();
  const RestReply ping =
      session.get(controller_path(version, "ping"), RestSession::Purpose::kExamination);
  // Every further question would fail for the same reason.
  if (ping.problem.trouble == Trouble::kToken) {
    findings.bad("token", ping.why, kTokenAdvice);
    return findings.all();
  }
  const bool answers = check_controller(session, ping, findings);
  judge_site(facts_of(session, version, answers), what, findings);
  check_limits(session, what, findings);
  return findings.all();
}

}  // namespace slurm
