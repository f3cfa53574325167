// Where an attempt's files are: <jobs>/<item>/a<n>/, with <jobs>/<item>/current beside it naming
// the attempt that may run (the fence).
#pragma once

#include <cstdint>
#include <string>

namespace scheduler {

std::string item_folder(const std::string& jobs, int64_t item_id);
std::string attempt_folder(const std::string& jobs, int64_t item_id, int number);

inline constexpr const char* kEngineConfigFile = "config.yaml";
inline constexpr const char* kScriptFile = "job.sh";
inline constexpr const char* kLogFile = "job.log";
inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kCheckpointFile = "checkpoint.mgc";
inline constexpr const char* kProgressFile = "progress.json";
inline constexpr const char* kPeaksFile = "peaks.csv";
inline constexpr const char* kFailedHostFile = "failed_host";
inline constexpr const char* kClaimFolder = "claim";
inline constexpr const char* kFenceFile = "current";

// The highest attempt in which a script has run, whether or not the database knows it; 0: none.
int highest_claimed(const std::string& jobs, int64_t item_id);

// Sets the fence: from here on no earlier attempt may run. Throws std::system_error.
void set_fence(const std::string& item_folder, int number);
// Prevents the script of an abandoned attempt from ever starting its search. Returns false, and
// changes nothing, when it has started (has taken its claim). Throws std::system_error.
bool fence_off(const std::string& attempt_folder, int number);

// Makes an empty folder for an attempt that no script has run; what a crash left there is removed.
void make_attempt_folder(const std::string& folder);

}  // namespace scheduler
