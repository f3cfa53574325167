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

// Why the request must be refused; nullopt: it can be a job. `helper` is the path of margay-job.
std::optional<std::string> reason_to_refuse(const JobRequest& request,
                                            const std::filesystem::path& helper);

// Why `gpus` GPUs are too few for the request's #SBATCH lines; nullopt: they suffice. Throws
// DirectiveError.
std::optional<std::string> gpus_beyond(const JobRequest& request, int gpus);

// The request with the job's complete environment and with the time limit and GPUs from its
// script's #SBATCH lines. Throws DirectiveError.
LocalRequest local_request_of(const JobRequest& request, int64_t submitted_ns,
                              std::chrono::milliseconds kill_wait);

}  // namespace slurm
