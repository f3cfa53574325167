#include "scheduler/results/learn_rates.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <string>

#include "db/measures.h"
#include "scheduler/results/job_json.h"
#include "scheduler/results/rate_key.h"

namespace scheduler {
namespace {

using Json = nlohmann::json;

// Seconds since the epoch of "2026-11-23T15:00:00Z".
std::optional<int64_t> time_of(const std::string& text) {
  std::tm time{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (end == nullptr) return std::nullopt;
  return ::timegm(&time);
}

// The model; of processors with their number, on which the rate depends.
std::string device_of(const Json& device) {
  const std::string name = device.at("name");
  if (device.at("backend") != "cpu") return name;
  const auto threads = base::whole_number<int64_t>(device, "threads");
  return name + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

// What remains of the job's time; empty: its start is not known, or the clocks do not agree.
std::optional<double> start_seconds(const db::Attempt& attempt, const Json& timings,
                                    double accounted) {
  const auto finished = time_of(timings.at("finished"));
  if (!finished || attempt.started <= 0 || attempt.restarts > 0) return std::nullopt;
  const double rest = static_cast<double>(*finished - attempt.started) - accounted;
  // Both times are known to the second.
  if (rest < -1) return std::nullopt;
  return std::max(0.0, rest);
}

bool has_one_model(const Json& manifest) {
  const Json& device = manifest.at("device");
  const std::string first =
      device.at("backend").get<std::string>() + ", " + device.at("name").get<std::string>();
  const Json& others = manifest.at("other_ranks");
  return std::all_of(others.begin(), others.end(),
                     [&](const Json& rank) { return rank.at("device") == first; });
}

FinishedSearch read(const db::Attempt& attempt, const Json& manifest) {
  const Json& timings = manifest.at("timings");
  const Json& micrograph = manifest.at("inputs").at("micrograph");
  const auto size = base::whole_number<int64_t>(manifest.at("inputs").at("template"), "size");
  FinishedSearch search{.engine = rate_key_of_engine(manifest.at("version"), manifest, size),
                        .device = device_of(manifest.at("device")),
                        .height = base::whole_number<int64_t>(micrograph, "height"),
                        .width = base::whole_number<int64_t>(micrograph, "width"),
                        .template_size = size,
                        .search_seconds = timings.at("search_seconds")};
  for (const char* part : {"read_seconds", "preprocess_seconds", "write_seconds"}) {
    search.serial_seconds += timings.at(part).get<double>();
  }
  search.correlations = timings.at("correlations_per_second").get<double>() * search.search_seconds;
  search.start_seconds =
      start_seconds(attempt, timings, search.serial_seconds + search.search_seconds);
  std::set<std::string> hosts = {manifest.at("host")};
  for (const Json& rank : manifest.at("other_ranks")) hosts.insert(rank.at("host"));
  search.gpus += static_cast<int64_t>(manifest.at("other_ranks").size());
  search.nodes = static_cast<int64_t>(hosts.size());
  return search;
}

}  // namespace

std::optional<FinishedSearch> finished_search(const db::Attempt& attempt,
                                              const db::Result& result) {
  try {
    const Json manifest = Json::parse(result.manifest_json);
    if (!has_one_model(manifest)) return std::nullopt;
    return read(attempt, manifest);
  } catch (const Json::exception&) {
    return std::nullopt;  // it lacks a field, which only a rate needs
  }
}

void learn_rates(db::Database& database, const db::Attempt& attempt, const db::Result& result) {
  const auto search = finished_search(attempt, result);
  if (!search) return;
  db::MeasureStore measures(database);
  for (const db::Measure& measure : learn(measures.all(), *search)) measures.put(measure);
}

}  // namespace scheduler
