// Authenticated requests to slurmrestd: within the budget of requests, with the token that is in
// its file now, for an API version that both sides know. Used by one thread; each call blocks for
// the time-out of a request at most. Throws only what a sink throws: errors are in the reply,
// without the token.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "slurm/cluster_options.h"
#include "slurm/rate_limit.h"
#include "slurm/rest/access_token.h"
#include "slurm/rest/http.h"
#include "slurm/rest/json.h"

namespace slurm {

struct RestReply {
  enum class Ending {
    kAnswered,
    kNoBudget,  // not sent: too many requests in this minute
    kNotSent,   // proven not sent
    kLost,      // sent, but no complete answer came
  };
  Ending ending = Ending::kNotSent;
  RestAnswer answer{};
  Problem problem{};  // set for kAnswered, except for a submission
  std::string date{};
  std::string why{};  // what went wrong, one sentence; empty if ok()

  bool ok() const { return ending == Ending::kAnswered && problem.trouble == Trouble::kNone; }
};

class RestSession {
 public:
  using Sink = std::function<void(std::string_view)>;
  enum class Purpose {
    kListing,  // may use the last requests of the budget
    kOther,
    kExamination,  // is asked even if slurmrestd was slow to fail just now
  };

  explicit RestSession(RestClusterOptions options);

  RestReply get(const std::string& path, Purpose purpose = Purpose::kOther, const Sink& sink = {});
  // POST and DELETE, which are never sent twice.
  RestReply change(const std::string& method, const std::string& path,
                   const std::string& body = "");
  // The answer is for classify_submit(). The request is sent again only if slurmrestd refused the
  // token, so that no job was made, and the file has another token.
  RestReply submit(ApiVersion version, const std::string& body);

  // The API version in use, asked for at the first use; nullopt: version_failure() has the reason.
  std::optional<ApiVersion> version(Purpose purpose = Purpose::kOther);
  const RestReply& version_failure() const { return version_failure_; }
  // Whether accounting is used: by the settings or, with Accounting::kAuto, if slurmrestd offers it
  // in the version in use.
  bool uses_accounting() const;
  // Notes Slurm's release from an answer. A different release means another slurmrestd, whose API
  // version is asked for again.
  void note_release(const std::string& release);
  const std::string& release() const { return release_; }
  std::string version_word() const { return version_ ? word_of(*version_) : ""; }
  // Why a job that is missing from this listing may still exist; empty: the listing is complete.
  std::string fault_of_listing(ApiVersion version, const RestReply& reply,
                               const JobListing& listing) const;

  int allowance();
  int requests_in_last_minute() const;
  // The user in whose name requests are made; empty: slurmrestd decides.
  std::string user() const;
  const RestClusterOptions& options() const { return options_; }
  TokenFile* token_file() { return token_file_ ? &*token_file_ : nullptr; }
  int64_t steady_ms() const { return options_.steady_ms(); }
  int64_t now() const { return options_.now(); }

 private:
  RestReply ask(const HttpRequest& request, Purpose purpose, const Sink& sink);
  RestReply ask_once(const HttpRequest& request, Purpose purpose, const Sink& sink);
  std::optional<RestReply> hindrance(Purpose purpose);
  RestReply send(HttpRequest request, const Sink& sink);
  std::optional<std::string> current_token(std::string& why);
  bool has_other_token();
  std::string sentence_of(const Problem& problem) const;
  std::string hidden(std::string text) const;
  void choose(const std::string& openapi);

  RestClusterOptions options_;
  HttpClient http_;
  std::optional<TokenFile> token_file_;
  std::string token_;  // the token that was sent last
  std::string token_user_;
  RequestBudget budget_;
  int reserve_;
  std::deque<int64_t> sent_ms_;
  int64_t held_until_ms_ = 0;  // after a failure that took long
  std::string held_why_;
  std::optional<ApiVersion> version_;
  std::map<ApiVersion, bool> offered_;
  RestReply version_failure_;
  std::string release_;
};

// "2024-06-11 12:00:00 UTC".
std::string date_of(int64_t seconds);

}  // namespace slurm
