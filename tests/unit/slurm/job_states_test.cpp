#include "slurm/job_states.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace slurm {
namespace {

JobState state(const std::string& words) { return state_of(split_words(words)); }

TEST(JobStates, EveryBaseStateHasItsMeaning) {
  EXPECT_EQ(state("PENDING"), JobState::kPending);
  EXPECT_EQ(state("RUNNING"), JobState::kRunning);
  EXPECT_EQ(state("SUSPENDED"), JobState::kRunning);
  EXPECT_EQ(state("COMPLETED"), JobState::kCompleted);
  EXPECT_EQ(state("FAILED"), JobState::kFailed);
  EXPECT_EQ(state("CANCELLED"), JobState::kCancelled);
  EXPECT_EQ(state("TIMEOUT"), JobState::kTimeout);
  EXPECT_EQ(state("DEADLINE"), JobState::kTimeout);
  EXPECT_EQ(state("OUT_OF_MEMORY"), JobState::kOutOfMemory);
  EXPECT_EQ(state("NODE_FAIL"), JobState::kNodeFail);
  EXPECT_EQ(state("BOOT_FAIL"), JobState::kNodeFail);
  EXPECT_EQ(state("PREEMPTED"), JobState::kPreempted);
}

TEST(JobStates, AJobThatIsStillBeingCleanedUpHasNotEnded) {
  for (const std::string end : {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL",
                                "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE", "BOOT_FAIL"}) {
    EXPECT_EQ(state(end + "+COMPLETING"), JobState::kCompleting) << end;
    EXPECT_EQ(state(end + "+STAGE_OUT"), JobState::kCompleting) << end;
  }
  EXPECT_EQ(state("COMPLETING"), JobState::kCompleting);
  EXPECT_EQ(state("RUNNING+COMPLETING"), JobState::kCompleting);
}

TEST(JobStates, AnEndThatIsRequeuedIsNoEnd) {
  EXPECT_EQ(state("PREEMPTED+REQUEUED"), JobState::kPending);
  EXPECT_EQ(state("NODE_FAIL+REQUEUED"), JobState::kPending);
  EXPECT_EQ(state("FAILED+SPECIAL_EXIT"), JobState::kPending);
  EXPECT_EQ(state("CANCELLED+REQUEUE_HOLD"), JobState::kPending);
  EXPECT_EQ(state("PENDING+COMPLETING"), JobState::kPending);
  EXPECT_EQ(state("PENDING+SPECIAL_EXIT"), JobState::kPending);
  EXPECT_EQ(state("REQUEUED"), JobState::kPending);
  EXPECT_EQ(state("REQUEUE_FED"), JobState::kPending);
}

TEST(JobStates, AFlagBesideALiveStateChangesNothing) {
  for (const std::string flag : {"CONFIGURING", "RESIZING", "SIGNALING", "STOPPED", "POWER_UP_NODE",
                                 "LAUNCH_FAILED", "RECONFIG_FAIL", "SOMETHING_NEW"}) {
    EXPECT_EQ(state("RUNNING+" + flag), JobState::kRunning) << flag;
  }
  EXPECT_EQ(state("CONFIGURING"), JobState::kRunning);
  EXPECT_EQ(state("SIGNALING"), JobState::kRunning);
}

TEST(JobStates, ACauseBesideAnEndLeavesTheEnd) {
  EXPECT_EQ(state("FAILED+LAUNCH_FAILED"), JobState::kFailed);
  EXPECT_EQ(state("LAUNCH_FAILED"), JobState::kNodeFail);
  EXPECT_EQ(state("NODE_FAIL+RECONFIG_FAIL"), JobState::kNodeFail);
}

TEST(JobStates, WhatWeDoNotKnowIsAlive) {
  EXPECT_EQ(state(""), JobState::kUnknownAlive);
  EXPECT_EQ(state("SOMETHING_NEW"), JobState::kUnknownAlive);
  EXPECT_EQ(state("COMPLETED+SOMETHING_NEW"), JobState::kUnknownAlive);
  EXPECT_EQ(state("REVOKED"), JobState::kUnknownAlive);
}

TEST(JobStates, WordsAreReadAsEachToolWritesThem) {
  using Words = std::set<std::string>;
  EXPECT_EQ(split_words("CANCELLED by 1000"), (Words{"CANCELLED"}));
  EXPECT_EQ(split_words("CANCELLED+COMPLETING"), (Words{"CANCELLED", "COMPLETING"}));
  EXPECT_EQ(split_words(" cancelled, Completing \n"), (Words{"CANCELLED", "COMPLETING"}));
  EXPECT_EQ(split_words("CANCELLED+"), (Words{"CANCELLED"}));
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(join_words({"COMPLETING", "CANCELLED"}), "CANCELLED+COMPLETING");
  EXPECT_EQ(join_words({"COMPLETING", "PENDING"}), "PENDING+COMPLETING");
  EXPECT_EQ(join_words({}), "");
}

TEST(JobStates, ARawWaitStatusBecomesACodeOrASignal) {
  JobStatus job;
  set_exit_of_wait_status(768, job);
  EXPECT_EQ(job.exit_code, 3);
  EXPECT_EQ(job.signal, std::nullopt);
  set_exit_of_wait_status(15, job);
  EXPECT_EQ(job.exit_code, std::nullopt);
  EXPECT_EQ(job.signal, 15);
  set_exit_of_wait_status(139, job);  // with a core
  EXPECT_EQ(job.signal, 11);
  set_exit_of_wait_status(0, job);
  EXPECT_EQ(job.exit_code, 0);
  EXPECT_EQ(job.signal, std::nullopt);
}

TEST(JobReasons, EveryReasonSeenOnARealClusterIsExplained) {
  for (const std::string reason : {"None",
                                   "Priority",
                                   "Resources",
                                   "Dependency",
                                   "DependencyNeverSatisfied",
                                   "BeginTime",
                                   "JobHeldUser",
                                   "JobHeldAdmin",
                                   "ReqNodeNotAvail",
                                   "PartitionDown",
                                   "PartitionConfig",
                                   "PartitionNodeLimit",
                                   "PartitionTimeLimit",
                                   "JobArrayTaskLimit",
                                   "QOSMaxJobsPerUserLimit",
                                   "QOSMaxGRESPerUser",
                                   "AssocGrpGRES",
                                   "launch_failed_requeued_held",
                                   "NonZeroExitCode",
                                   "JobLaunchFailure",
                                   "RaisedSignal",
                                   "TimeLimit",
                                   "NodeDown",
                                   "DeadLine",
                                   "OutOfMemory"}) {
    EXPECT_NE(meaning_of_reason(reason), reason);
    EXPECT_NE(meaning_of_reason(reason), "") << reason;
  }
}

TEST(JobReasons, TheNodesThatAreNotAvailableAreNamed) {
  EXPECT_EQ(meaning_of_reason("ReqNodeNotAvail, UnavailableNodes:n15"),
            "a node that it needs is down, drained or reserved (n15)");
  EXPECT_EQ(meaning_of_reason("ReqNodeNotAvail, May be reserved for other job"),
            "a node that it needs is down, drained or reserved (May be reserved for other job)");
  EXPECT_EQ(meaning_of_reason("ReqNodeNotAvail, UnavailableNodes:"),
            "a node that it needs is down, drained or reserved");
}

TEST(JobReasons, LimitsSayWhoseAndOfWhat) {
  EXPECT_EQ(meaning_of_reason("QOSMaxGRESPerUser"),
            "the QOS's limit of GPUs is reached: waits for other jobs to end");
  EXPECT_EQ(meaning_of_reason("AssocGrpJobsLimit"),
            "the account's limit of running jobs is reached: waits for other jobs to end");
  EXPECT_EQ(meaning_of_reason("QOSMaxWallDurationPerJobLimit"),
            "asks for more than the QOS's limit of run time for one job");
  EXPECT_EQ(meaning_of_reason("QOSMinGRES"),
            "the QOS's limit of GPUs is reached: waits for other jobs to end");
  EXPECT_EQ(meaning_of_reason("AssocMaxCpuPerJobLimit"),
            "asks for more than the account's limit of CPUs for one job");
}

TEST(JobReasons, AnUnknownReasonIsShownAsItIs) {
  EXPECT_EQ(meaning_of_reason("SomethingNew"), "SomethingNew");
  EXPECT_EQ(meaning_of_reason(""), "");
  EXPECT_FALSE(needs_somebody("SomethingNew"));
}

TEST(JobReasons, WhatWaitingCannotMendNeedsSomebody) {
  for (const std::string reason :
       {"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "launch_failed_requeued_held",
        "launch failed requeued held", "JobHeldUser, job requeued in held state",
        "DependencyNeverSatisfied", "BadConstraints", "InvalidAccount", "InvalidQOS",
        "AccountNotAllowed", "PartitionTimeLimit", "PartitionNodeLimit", "PartitionDown",
        "QOSMaxWallDurationPerJobLimit", "AssocMaxCpuPerJobLimit", "QOSMinCpuNotSatisfied"}) {
    EXPECT_TRUE(needs_somebody(reason)) << reason;
  }
  for (const std::string reason :
       {"None", "Priority", "Resources", "BeginTime", "Dependency", "QOSMaxJobsPerUserLimit",
        "AssocGrpGRES", "ReqNodeNotAvail, UnavailableNodes:n15", "Licenses", "Cleaning"}) {
    EXPECT_FALSE(needs_somebody(reason)) << reason;
  }
}

TEST(JobReasons, AJobWaitsForItsTurnOrForItsPlaceOrForSomethingOfItsOwn) {
  for (const char* reason : {"", "None", "Priority", "Resources"}) {
    EXPECT_EQ(what_it_waits_for(reason), WaitsFor::kTurn) << reason;
  }
  for (const char* reason :
       {"PartitionDown", "PartitionInactive", "ReqNodeNotAvail, UnavailableNodes:n[1-4]",
        "ReqNodeNotAvail(Unavailable:n1)", "Licenses", "Reservation", "QOSMaxJobsPerUserLimit",
        "QOSGrpGRES", "AssocGrpCpuLimit",
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
        "partitions"}) {
    EXPECT_EQ(what_it_waits_for(reason), WaitsFor::kPlace) << reason;
  }
  for (const char* reason :
       {"BeginTime", "Dependency", "DependencyNeverSatisfied", "JobHeldUser", "JobHeldAdmin",
        "launch failed requeued held", "PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints",
        "QOSMaxWallDurationPerJobLimit", "AssocMaxCpuPerJobLimit", "ReservationDeleted",
        "a word that nobody knows"}) {
    EXPECT_EQ(what_it_waits_for(reason), WaitsFor::kJob) << reason;
  }
}

}  // namespace
}  // namespace slurm
