#include "slurm/rest/json.h"

#include "slurm/rest/json_values.h"

namespace slurm {
namespace {

std::string controller_path(ApiVersion version, const std::string& rest) {
  return "/slurm/" + word_of(version) + "/" + rest;
}

std::string accounting_path(ApiVersion version, const std::string& rest) {
  return "/slurmdb/" + word_of(version) + "/" + rest;
}

// Percent-encoded; slurmrestd requires that of ':' and ',' too.
std::string encoded(const std::string& text) {
  static const char* digits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '_' || c == '.';
    if (plain) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return result;
}

}  // namespace

std::string submit_path(ApiVersion version) { return controller_path(version, "job/submit"); }
std::string jobs_path(ApiVersion version) { return controller_path(version, "jobs"); }
std::string job_path(ApiVersion version, const std::string& job_id) {
  return controller_path(version, "job/" + encoded(job_id));
}
std::string signal_path(ApiVersion version, const std::string& job_id, const std::string& signal) {
  return job_path(version, job_id) + "?signal=" + encoded(signal);
}
std::string ping_path(ApiVersion version) { return controller_path(version, "ping"); }
std::string diag_path(ApiVersion version) { return controller_path(version, "diag"); }
std::string partitions_path(ApiVersion version) { return controller_path(version, "partitions"); }
std::string nodes_path(ApiVersion version) { return controller_path(version, "nodes"); }
std::string accounting_jobs_path(ApiVersion version, const std::string& name) {
  // Without the steps the answer is a third smaller.
  return accounting_path(version, "jobs?job_name=" + encoded(name) + "&skip_steps=true");
}
std::string accounting_qos_path(ApiVersion version) { return accounting_path(version, "qos"); }
std::string accounting_associations_path(ApiVersion version) {
  return accounting_path(version, "associations");
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
