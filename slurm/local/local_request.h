// What a request for a job becomes on the local cluster: a LocalRequest (job_folder.h), which the
// job's folder holds, or the reason to refuse it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "slurm/cluster.h"
#include "slurm/job/job_folder.h"

namespace slurm {

// Whether a job, and so its folder, may have this name.
bool is_job_name(const std::string& name);

// Why no job can come of it; nullopt: one can. `helper` is the path of margay-job.
std::optional<std::string> reason_to_refuse(const JobRequest& request,
                                            const std::filesystem::path& helper);

// Why there are not as many GPUs as its #SBATCH lines ask for; nullopt: there are. Throws
// DirectiveError.
std::optional<std::string> gpus_beyond(const JobRequest& request, int gpus);

// With the job's whole environment, and the time limit and GPUs that the #SBATCH lines of its
// script ask for. Throws DirectiveError.
LocalRequest local_request_of(const JobRequest& request, int64_t submitted_ns,
                              std::chrono::milliseconds kill_wait);

}  // namespace slurm
