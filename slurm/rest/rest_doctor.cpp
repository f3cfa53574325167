#include "slurm/rest/rest_doctor.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "slurm/rest/access_token.h"
#include "slurm/rest/json.h"

namespace slurm {
namespace {

using Level = Finding::Level;
using Names = std::set<std::string>;

constexpr int64_t kShortLife = 3600;
constexpr int64_t kMostSkew = 30;

std::string list_of(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::string duration_of(int64_t seconds) {
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / (24 * 3600)) + " days";
}

// "Tue, 11 Jun 2024 12:00:00 GMT".
std::optional<int64_t> parse_http_date(const std::string& text) {
  struct tm parts {};
  const char* end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return int64_t{timegm(&parts)};
}

bool is_of_this_machine(const std::string& url) {
  const std::string rest = url.substr(std::min(url.size(), std::strlen("http://")));
  return rest.starts_with("127.") || rest.starts_with("localhost") || rest.starts_with("[::1]");
}

class Examiner {
 public:
  Examiner(RestSession& session, const Examination& what) : session_(session), what_(what) {}

  std::vector<Finding> all() {
    check_address();
    check_token();
    if (check_version()) {
      check_controller();
      check_partitions();
      check_names_in_accounting();
      check_nodes();
      check_limits();
    }
    return std::move(findings_);
  }

 private:
  void good(const std::string& subject, const std::string& says) {
    findings_.push_back({.level = Level::kGood, .subject = subject, .says = says});
  }
  void warn(const std::string& subject, const std::string& says, const std::string& advice) {
    findings_.push_back(
        {.level = Level::kWarning, .subject = subject, .says = says, .advice = advice});
  }
  void bad(const std::string& subject, const std::string& says, const std::string& advice) {
    findings_.push_back({.level = Level::kBad, .subject = subject, .says = says, .advice = advice});
  }
  RestReply get(const std::string& path) {
    RestReply reply = session_.get(path, RestSession::Purpose::kExamination);
    if (!reply.ok() && reply.why.empty()) reply.why = "an answer that is not understood";
    return reply;
  }

  void check_address();
  void check_token();
  void check_life(const TokenFacts& facts);
  void check_token_user(const TokenFacts& facts);
  void check_mode(const std::string& path);
  bool check_version();
  void check_controller();
  void check_clock(const RestReply& diag);
  void check_partitions();
  void check_names_in_accounting();
  void check_names(const std::string& kind, const Names& wanted, const Names& there,
                   const std::string& advice);
  void check_nodes();
  void check_limits();

  RestSession& session_;
  const Examination& what_;
  std::vector<Finding> findings_;
};

void Examiner::check_address() {
  const std::string& url = session_.options().http.url;
  if (!url.starts_with("http://") || is_of_this_machine(url)) return;
  warn("slurmrestd's address", url + " carries the token unencrypted over the network",
       "use a Unix socket or https, or make sure that nobody else is on that network");
}

void Examiner::check_token() {
  TokenFile* file = session_.token_file();
  if (file == nullptr) {
    good("token", "none is used (slurm.token_file is not set)");
    return;
  }
  std::optional<TokenFacts> facts;
  try {
    facts = read_token_facts(file->token());
  } catch (const std::runtime_error& error) {
    bad("token", error.what(),
        "write a token of `scontrol token` there, readable by margayd alone");
    return;
  }
  check_mode(file->path());
  if (!facts) {
    bad("token", file->path() + " does not hold a JSON Web Token",
        "write what `scontrol token` prints there");
    return;
  }
  check_life(*facts);
  check_token_user(*facts);
}

void Examiner::check_mode(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0 || (file.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) == 0) {
    return;
  }
  warn("token", path + " can be read or changed by other users", "chmod 600 " + path);
}

void Examiner::check_life(const TokenFacts& facts) {
  if (!facts.expires) {
    warn("token", "it never expires", "use a shorter life and renew the file");
    return;
  }
  const int64_t left = *facts.expires - session_.now();
  const std::string when = date_of(*facts.expires);
  if (left <= 0) {
    bad("token", "it expired on " + when, "put a new one into the file (scontrol token)");
  } else if (left < kShortLife) {
    warn("token", "it expires in " + duration_of(left) + ", on " + when,
         "see that something renews the file before");
  } else {
    good("token", "valid for " + duration_of(left) + ", until " + when);
  }
}

void Examiner::check_token_user(const TokenFacts& facts) {
  const std::string& wanted = session_.options().user;
  if (facts.user == "root" || facts.user == "slurm") {
    warn("token", "it is one of " + facts.user + ", and so as good as root on the whole cluster",
         "use a token of the user whose jobs these are");
  }
  const std::string user = wanted.empty() ? facts.user : wanted;
  if (user.empty()) {
    bad("user", "the token names no user", "set slurm.user");
  } else if (wanted.empty() || facts.user.empty() || wanted == facts.user) {
    good("user", "jobs belong to " + user);
  } else {
    good("user", "jobs belong to " + user + ", by a token of " + facts.user);
  }
}

bool Examiner::check_version() {
  const auto version = session_.version(RestSession::Purpose::kExamination);
  const std::string& url = session_.options().http.url;
  if (!version) {
    bad("slurmrestd", session_.version_failure().why,
        "check slurm.url, slurm.api_version and that slurmrestd runs");
    return false;
  }
  if (was_seen(*version)) {
    good("slurmrestd", "answers at " + url + ", API " + word_of(*version));
  } else {
    warn("slurmrestd",
         "answers at " + url + ", API " + word_of(*version) +
             ", which Margay knows from its documents alone",
         "set slurm.api_version to an older one where it is offered");
  }
  return true;
}

void Examiner::check_controller() {
  const ApiVersion version = *session_.version();
  const RestReply ping = get(ping_path(version));
  if (!ping.ok()) {
    bad("controller", ping.why, "check the token first, then slurmctld (scontrol ping)");
    return;
  }
  const std::string release = slurm_release(ping.answer.body);
  session_.note_release(release);
  good("controller", "Slurm " + release + " answers");
  check_clock(get(diag_path(version)));
}

void Examiner::check_clock(const RestReply& diag) {
  auto theirs = diag.ok() ? controller_time(diag.answer.body) : std::nullopt;
  if (!theirs) theirs = parse_http_date(diag.date);
  if (!theirs) {
    warn("clock", "the controller's time is not known: " + diag.why,
         "see that both machines keep their time by NTP");
    return;
  }
  const int64_t skew = *theirs - session_.now();
  const std::string says = "the controller's clock is " + std::to_string(std::llabs(skew)) + " s " +
                           (skew < 0 ? "behind" : "ahead of") + " this machine's";
  if (std::llabs(skew) > kMostSkew) {
    warn("clock", says, "see that both machines keep their time by NTP");
  } else {
    good("clock", says);
  }
}

void Examiner::check_partitions() {
  const ApiVersion version = *session_.version();
  const RestReply reply = get(partitions_path(version));
  if (!reply.ok()) {
    bad("partitions", reply.why, "");
    return;
  }
  Names wanted = what_.partitions;
  Names there;
  for (const PartitionFacts& facts : parse_partitions(version, reply.answer.body)) {
    there.insert(facts.name);
    if (wanted.count(facts.name) == 0 || facts.state == "UP") continue;
    warn("partition '" + facts.name + "'", "its state is " + facts.state,
         "jobs wait there until it is up");
    wanted.erase(facts.name);
  }
  check_names("partition", wanted, there, "correct slurm.options or the script template");
}

void Examiner::check_names(const std::string& kind, const Names& wanted, const Names& there,
                           const std::string& advice) {
  for (const std::string& name : wanted) {
    const std::string subject = kind + " '" + name + "'";
    if (there.count(name) > 0) {
      good(subject, "exists");
    } else {
      bad(subject, "does not exist; there are: " + list_of(there), advice);
    }
  }
}

void Examiner::check_names_in_accounting() {
  if (!session_.uses_accounting()) {
    good("accounting", "not used");
    for (const auto& [kind, names] : {std::pair("account", what_.accounts), {"QOS", what_.qos}}) {
      if (names.empty()) continue;
      warn(kind, "cannot be checked without accounting: " + list_of(names),
           "see the first job of each (sacctmgr show account, sacctmgr show qos)");
    }
    return;
  }
  const ApiVersion version = *session_.version();
  const RestReply qos = get(accounting_qos_path(version));
  if (!qos.ok()) {
    bad("accounting", qos.why, "check slurmdbd, or set slurm.accounting to off");
    return;
  }
  good("accounting", "slurmdbd answers");
  const auto qos_names = parse_qos_names(version, qos.answer.body);
  check_names("QOS", what_.qos, Names(qos_names.begin(), qos_names.end()),
              "correct slurm.options or the script template");
  if (what_.accounts.empty()) return;
  const RestReply associations = get(accounting_associations_path(version));
  if (!associations.ok()) {
    warn("account", associations.why, "check it by sacctmgr show associations");
    return;
  }
  const auto accounts = parse_accounts(version, associations.answer.body, session_.user());
  check_names(
      "account", what_.accounts, Names(accounts.begin(), accounts.end()),
      "correct slurm.options, or let an administrator give " + session_.user() + " the account");
}

void Examiner::check_nodes() {
  const ApiVersion version = *session_.version();
  const RestReply reply = get(nodes_path(version));
  if (!reply.ok()) {
    bad("nodes", reply.why, "");
    return;
  }
  int nodes = 0;
  int gpus = 0;
  for (const NodeFacts& facts : parse_nodes(version, reply.answer.body)) {
    ++nodes;
    gpus += facts.gpus;
  }
  const std::string says =
      std::to_string(nodes) + " nodes with " + std::to_string(gpus) + " GPUs in all";
  if (what_.gpus && gpus == 0) {
    bad("GPUs", says, "see GresTypes, gres.conf and the Gres of the nodes");
  } else {
    good("GPUs", says);
  }
}

// No version of slurmrestd tells slurm.conf.
void Examiner::check_limits() {
  const auto polls = std::chrono::ceil<std::chrono::seconds>(3 * session_.options().poll);
  good("limits",
       "slurmrestd does not tell MaxArraySize, MinJobAge and MessageTimeout: see `scontrol "
       "show config`; MinJobAge should be " +
           std::to_string(polls.count()) +
           " s at least, and MessageTimeout less than slurm.timeout");
}

}  // namespace

std::vector<Finding> examine_rest(RestSession& session, const Examination& what) {
  return Examiner(session, what).all();
}

}  // namespace slurm
