// The real daemon on the fake slurmrestd: it crashes at one point while Slurm fails in one way, is
// started again, and everything must come out once.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tests {

struct SlurmFault {
  std::string name;         // of letters and digits
  std::string text{};       // for the fake (fake_faults.h)
  bool kills_jobs = false;  // so that a search may be begun more than once
  bool rotates_token = false;
  bool takes_slurmrestd_away = false;
  std::string release = "22.05";
};

// Every one that the fake can do.
const std::vector<SlurmFault>& slurm_faults();

struct CrashAndFault {
  std::string point;  // scheduler/crash_point.h, "" = none
  SlurmFault fault;
};
void PrintTo(const CrashAndFault& both, std::ostream* out);
std::string name_of_case(const ::testing::TestParamInfo<CrashAndFault>& info);

// Each fault by itself; each point with one of the faults in turn; each point with each fault.
std::vector<CrashAndFault> faults_alone();
std::vector<CrashAndFault> crashes_with_a_fault();
std::vector<CrashAndFault> whole_matrix();

// Two micrographs, and a third that is cancelled, or promoted while it runs, where the point is
// about that. Expects that they are done, each by one search, that a promoted one resumed from its
// checkpoint with several nodes, and that no job of Margay is left in Slurm.
void expect_once_in_spite_of(const CrashAndFault& both);
// The daemon really ends at the point.
void expect_reached(const std::string& point);

}  // namespace tests
