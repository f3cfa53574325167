// The subcommands of margay-engine, one file each (command_NAME.cpp). Options have been parsed;
// results go to stdout, messages to stderr. Each returns the exit code of what it did, or throws.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/error.h"
#include "engine/numerics/peaks.h"
#include "engine/numerics/simulate.h"
#include "engine/search/match.h"

namespace engine {

struct MatchCommand {
  std::string config;
  MatchOptions options;
  RankFlags rank;
  int nproc = 0;                       // local ranks to start; 0: this process is one itself
  std::vector<std::string> arguments;  // argv of this very program
};
// `stop` set: finish the batch, write the checkpoint, return kStopped.
ExitCode match_command(const MatchCommand& command, const std::atomic<bool>& stop);

struct PeaksCommand {
  std::string config;
  std::string output;  // empty: stdout
  bool overwrite = false;
  PeakOptions peaks;
};
ExitCode peaks_command(const PeaksCommand& command);

struct PlanCommand {
  std::string config;
  DeviceOptions device;
  int nproc = 0;  // local ranks; 0: as match would start for the configuration
  bool allow_pixel_size_mismatch = false;
  bool json = false;
};
ExitCode plan_command(const PlanCommand& command);

struct ProjectCommand {
  std::string volume;
  std::string output;
  double phi = 0, theta = 0, psi = 0;  // degrees
  std::string config;                  // its optics are applied; empty: none
  double relative_defocus = 0;         // A
  bool overwrite = false;
};
ExitCode project_command(const ProjectCommand& command);

struct SimulateCommand {
  std::string volume;
  std::string config;  // its optics, defocus planes and template; empty: the options'
  std::string output;
  std::string truth;      // empty: NAME_truth.csv beside NAME.mrc
  std::string particles;  // a truth table to plant; empty: drawn at random
  OpticsGroup optics;     // pixel_size 0: the template's header's
  SimulationOptions simulation;
  bool overwrite = false;
};
ExitCode simulate_command(const SimulateCommand& command);

struct SelftestCommand {
  std::string data;  // folder of the known answers; empty: the one that belongs to the program
  DeviceOptions device;
};
ExitCode selftest_command(const SelftestCommand& command);

struct ScaleCommand {
  std::string config;  // empty: a search of its own
  std::string output;  // the table as CSV; empty: none
  int nproc = 0;       // the most ranks; 0: a rank for each device, or for each core
  DeviceOptions device;
  bool allow_pixel_size_mismatch = false;
  bool overwrite = false;
  bool json = false;
};
// `stop` set: end the ranks, return kStopped.
ExitCode scale_command(const ScaleCommand& command, const std::atomic<bool>& stop);

struct InfoCommand {
  std::vector<std::string> files;  // empty: about this build and machine
  bool json = false;
};
ExitCode info_command(const InfoCommand& command);

// Sentences for the user, to stderr.
void tell(const std::string& sentences);

}  // namespace engine
