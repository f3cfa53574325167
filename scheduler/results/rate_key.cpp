#include "scheduler/results/rate_key.h"

namespace scheduler {

std::string rate_key_of_engine(const std::string& version, const nlohmann::json& json,
                               int64_t template_size) {
  const auto crop = json.find("fourier_crop");  // not in those of earlier versions
  if (crop == json.end() || crop->is_null()) return version;
  return version + ", fourier_crop " +
         std::to_string(base::whole_number<int64_t>(*crop, "template_size")) + " of " +
         std::to_string(template_size);
}

}  // namespace scheduler
