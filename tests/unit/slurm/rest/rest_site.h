// A slurmrestd that says what a test wants, and a client of it in virtual time.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "slurm/rest/rest_cluster.h"
#include "tests/fakes/scripted_http.h"
#include "tests/scratch_folder.h"
#include "tests/unit/slurm/rest/tokens.h"

namespace slurm {

class RestSite : public testing::Test {
 protected:
  using Json = nlohmann::json;
  using Answer = tests::ScriptedAnswer;
  using Request = tests::ScriptedRequest;

  static constexpr int64_t kNow = 1'700'000'000;

  // A job of the controller's listing.
  static Json job(int id, const std::string& name, const std::string& state, int64_t submitted = 5);
  // A record of accounting.
  static Json record(int id, const std::string& name, const std::string& state,
                     int64_t submitted = 5);
  static Answer json(const Json& body, int status = 200) {
    return {.status = status, .body = body.dump()};
  }
  static Json with_meta(Json body);
  static Json error(int number, const std::string& text);
  static JobRequest request(const std::string& name, const std::string& directives = "");

  RestClusterOptions options();
  // Another token in the file, good for an hour unless the test says otherwise.
  void renew_token(const std::string& signature, int64_t expires = kNow + 3600);
  void pass(int64_t ms) { steady_ms_ += ms; }
  // As answers_ says, and else as usual.
  Answer respond(const Request& request);
  Answer usual(const Request& request);

  std::vector<Request> asked(const std::string& method, const std::string& path) const {
    return server_.requests(method, path);
  }
  size_t listings() const { return asked("GET", "/slurm/v0.0.38/jobs").size(); }

  // What slurmrestd says instead of the usual; a test changes it. Paths by their beginning.
  std::map<std::string, std::function<Answer(const Request&)>> answers_;
  std::vector<std::string> versions_ = {"v0.0.36", "v0.0.37", "v0.0.38"};
  bool offers_accounting_ = true;
  std::vector<Json> jobs_;
  std::vector<Json> records_;
  std::string accepted_token_;  // empty: any

  tests::ScratchFolder folder_;
  std::string token_;
  int64_t steady_ms_ = 0;
  int64_t now_ = kNow;
  tests::ScriptedHttp server_{[this](const Request& request) { return respond(request); }};
};

}  // namespace slurm
