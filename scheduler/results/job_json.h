// Reading the JSON that a job leaves in its attempt's folder. The job's user may write anything
// there: see base/untrusted_file.h and base/json_nesting.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/untrusted_file.h"

namespace scheduler {

inline constexpr size_t kLongestProgress = size_t{64} << 10;
inline constexpr size_t kLongestManifest = size_t{4} << 20;

// nullopt when there is no such file. Throws base::UnfitFile for one that is not a regular file, is
// longer than `most` bytes, nested too deep or not JSON, and base::FileError.
std::optional<nlohmann::json> read_job_json(const std::string& folder, const std::string& name,
                                            size_t most);

}  // namespace scheduler
