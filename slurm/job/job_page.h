// The manual page and the completion of margay-job (base/command_pages.h).
#pragma once

#include "base/command_pages.h"

namespace slurm {

// What `margay-job --help` says, and what its options are.
base::PageCommand job_page();

}  // namespace slurm
