// Answers of real slurmrestds, 22.05.8 and 24.11.5, as they were recorded.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.h"
#include "slurm/rest/json.h"

namespace tests {

inline std::string recorded_text(const std::string& name) {
  std::ifstream file(std::string(MARGAY_TEST_DATA) + "/slurm/" + name);
  if (!file) throw std::runtime_error("there is no recorded " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// All of one release ("22.05"), each {request, status, seconds, body}.
inline nlohmann::json recorded_answers(const std::string& release) {
  return nlohmann::json::parse(recorded_text(release + "/answers.json"));
}

inline slurm::RestAnswer recorded_answer(const std::string& release, const std::string& name) {
  const nlohmann::json answers = recorded_answers(release);
  const nlohmann::json& answer = answers.at(name);
  const nlohmann::json& body = answer.at("body");
  return {.status = answer.at("status"),
          .body = body.is_string() ? body.get<std::string>() : body.dump(1),
          .seconds = answer.at("seconds")};
}

inline slurm::ApiVersion version_of_release(const std::string& release) {
  return release == "22.05" ? slurm::ApiVersion::kV38 : slurm::ApiVersion::kV42;
}

// The job objects of a recorded listing with one job in each state and reason.
inline std::vector<std::string> recorded_jobs(const std::string& release) {
  std::vector<std::string> jobs;
  slurm::JobListing listing([&](const std::string& job) { jobs.push_back(job); });
  listing.feed(recorded_text(release + "/jobs.json"));
  if (!listing.whole()) throw std::runtime_error("the recorded listing is not whole");
  return jobs;
}

}  // namespace tests
