// Submissions to a cluster that queues, holds, refuses and limits.
#pragma once

#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {

class DaemonSlurmSubmitTest : public SlurmFixture {};

}  // namespace scheduler
