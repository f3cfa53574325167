#include "tests/unit/slurm/rest/rest_site.h"

#include <filesystem>

namespace slurm {

nlohmann::json RestSite::job(int id, const std::string& name, const std::string& state,
                             int64_t submitted) {
  return {{"job_id", id},
          {"name", name},
          {"job_state", state},
          {"state_reason", "None"},
          {"submit_time", submitted}};
}

nlohmann::json RestSite::record(int id, const std::string& name, const std::string& state,
                                int64_t submitted) {
  return {{"job_id", id},
          {"name", name},
          {"state", {{"current", state}, {"reason", "None"}}},
          {"time", {{"submission", submitted}}}};
}

nlohmann::json RestSite::with_meta(Json body) {
  body["meta"] = {{"Slurm", {{"release", "22.05.8"}}}};
  body["errors"] = Json::array();
  return body;
}

nlohmann::json RestSite::error(int number, const std::string& text) {
  return {{"errors", {{{"error_number", number}, {"error_code", number}, {"error", text}}}}};
}

JobRequest RestSite::request(const std::string& name, const std::string& directives) {
  return {.name = name,
          .script = "#!/bin/bash\n" + directives + "true\n",
          .directory = "/tmp",
          .output_path = "/tmp/log"};
}

RestClusterOptions RestSite::options() {
  if (token_.empty()) renew_token("one");
  RestClusterOptions options;
  options.http = {.url = server_.url(), .timeout = std::chrono::seconds(10)};
  options.token_file = folder_ / "token";
  options.name_prefix = "margay-test-";
  // Asked before and after each request, so it keeps the test's thread and the server's apart.
  options.steady_ms = [this] {
    server_.settle();
    return steady_ms_;
  };
  options.now = [this] { return now_; };
  return options;
}

void RestSite::renew_token(const std::string& signature, int64_t expires) {
  token_ = token_of("alice", expires, base64url("signature " + signature));
  std::filesystem::rename(folder_.write("next", "SLURM_JWT=" + token_ + "\n"), folder_ / "token");
  std::filesystem::permissions(folder_ / "token", std::filesystem::perms::owner_read);
}

tests::ScriptedAnswer RestSite::respond(const Request& request) {
  const auto token = request.headers.find("x-slurm-user-token");
  if (!accepted_token_.empty() &&
      (token == request.headers.end() || token->second != accepted_token_)) {
    return {.status = 401, .body = "Authentication failure"};
  }
  for (auto answer = answers_.rbegin(); answer != answers_.rend(); ++answer) {
    if (request.path.starts_with(answer->first)) return answer->second(request);
  }
  return usual(request);
}

tests::ScriptedAnswer RestSite::usual(const Request& request) {
  if (request.path == "/openapi/v3") {
    Json paths = Json::object();
    for (const std::string& version : versions_) {
      paths["/slurm/" + version + "/job/submit"] = Json::object();
      if (offers_accounting_) paths["/slurmdb/" + version + "/jobs"] = Json::object();
    }
    return json({{"paths", paths}});
  }
  if (request.path.starts_with("/slurmdb/")) {
    return request.path.find("/jobs?") == std::string::npos
               ? Answer{.status = 404, .body = "Unable find requested URL."}
               : json(with_meta({{"jobs", records_}}));
  }
  if (request.path.ends_with("/jobs")) return json(with_meta({{"jobs", jobs_}}));
  if (request.path.ends_with("/job/submit")) return json(with_meta({{"job_id", 17}}));
  if (const size_t at = request.path.find("/job/");
      at != std::string::npos && request.method == "GET") {
    Json one = Json::array();
    for (const Json& job : jobs_) {
      if (request.path.ends_with("/job/" + job.at("job_id").dump())) one.push_back(job);
    }
    return json(with_meta({{"jobs", one}}));
  }
  if (request.path.find("/job/") != std::string::npos) return json(with_meta({}));
  return {.status = 404, .body = "Unable find requested URL."};
}

}  // namespace slurm
