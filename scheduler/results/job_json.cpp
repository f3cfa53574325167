#include "scheduler/results/job_json.h"

#include "base/json_nesting.h"

namespace scheduler {

std::optional<nlohmann::json> read_job_json(const std::string& folder, const std::string& name,
                                            size_t most) {
  const auto text = base::read_untrusted_in(folder, name, most);
  if (!text) return std::nullopt;
  const std::string path = "'" + folder + "/" + name + "'";
  if (base::nests_deeper(*text)) {
    throw base::UnfitFile(path + " nests lists and objects in more than " +
                          std::to_string(base::kDeepestJson) + " levels");
  }
  try {
    return nlohmann::json::parse(*text);
  } catch (const nlohmann::json::exception&) {
    throw base::UnfitFile(path + " is damaged: it is not JSON");
  }
}

}  // namespace scheduler
