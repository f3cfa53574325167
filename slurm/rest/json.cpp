#include "slurm/rest/json.h"

#include "base/hex.h"
#include "slurm/rest/json_values.h"

namespace slurm {

std::string controller_path(ApiVersion version, const std::string& rest) {
  return "/slurm/" + word_of(version) + "/" + rest;
}
std::string accounting_path(ApiVersion version, const std::string& rest) {
  return "/slurmdb/" + word_of(version) + "/" + rest;
}
std::string submit_path(ApiVersion version) { return controller_path(version, "job/submit"); }
std::string jobs_path(ApiVersion version) { return controller_path(version, "jobs"); }
// slurmrestd requires the colon and the comma of a job's id to be encoded, too.
std::string job_path(ApiVersion version, const std::string& job_id) {
  return controller_path(version, "job/" + base::percent_encode(job_id));
}
std::string signal_path(ApiVersion version, const std::string& job_id, const std::string& signal) {
  return job_path(version, job_id) + "?signal=" + base::percent_encode(signal);
}
std::string accounting_jobs_path(ApiVersion version, const std::string& name) {
  // Without the steps the answer is a third smaller.
  return accounting_path(version,
                         "jobs?job_name=" + base::percent_encode(name) + "&skip_steps=true");
}

std::string slurm_release(const std::string& body) {
  const Json document = parse_json(body);
  const Json& meta = member(document, "meta");
  const std::string release = text_of(member(meta, {"slurm", "release"}));
  return release.empty() ? text_of(member(meta, {"Slurm", "release"})) : release;
}

std::map<ApiVersion, bool> offered_versions(const std::string& openapi) {
  std::map<ApiVersion, bool> offered;
  const Json document = parse_json(openapi);
  const Json& paths = member(document, "paths");
  if (!paths.is_object()) return offered;
  for (const ApiVersion version : api_versions()) {
    if (paths.contains(submit_path(version))) offered[version] = false;
  }
  for (const auto& path : paths.items()) {
    for (auto& [version, accounting] : offered) {
      accounting = accounting || path.key().starts_with(accounting_path(version, "job"));
    }
  }
  return offered;
}

}  // namespace slurm
