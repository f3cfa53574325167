#include "engine/launch/rank_identity.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "base/parse_number.h"
#include "base/slurm_lists.h"
#include "base/text.h"
#include "engine/error.h"

namespace engine {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();
constexpr int kLastPort = 65535;
constexpr int kPortsTried = 32;

int whole_number(const std::string& name, const std::string& text, int least, int most) {
  const auto number = base::parse_number<int>(text);
  if (!number || *number < least || *number > most) {
    throw UsageError(name + ": expected a whole number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", got '" + text + "'");
  }
  return *number;
}

// A variable that is set to nothing is taken as not set.
class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  std::optional<std::string> text(const std::string& name) const {
    std::optional<std::string> value = environment_(name);
    return value && !value->empty() ? value : std::nullopt;
  }
  std::string text_or(const std::string& name, const std::string& other) const {
    return text(name).value_or(other);
  }
  bool has(const std::string& name) const { return text(name).has_value(); }
  std::optional<int> number(const std::string& name, int least, int most = kMost) const {
    const std::optional<std::string> value = text(name);
    if (!value) return std::nullopt;
    return whole_number(name, *value, least, most);
  }

  // A variable that the launcher sets together with `because`.
  std::string needed_text(const std::string& name, const std::string& because) const {
    const std::optional<std::string> value = text(name);
    if (!value) {
      throw UsageError(name + " is not set although " + because +
                       " is: start the ranks by torchrun, srun or mpirun, or give --rank, "
                       "--world-size and --rendezvous");
    }
    return *value;
  }
  int needed_number(const std::string& name, const std::string& because, int least) const {
    return whole_number(name, needed_text(name, because), least, kMost);
  }

 private:
  const Environment& environment_;
};

// The rank by one launcher.
struct LauncherInfo {
  RankPlace place;
  std::string identity;     // of this try at its job
  std::string host;         // of rank 0, unless MASTER_ADDR is set; empty: it does not say
  int port = 0;             // unless MASTER_PORT is set; 0: it does not say
  bool port_taken = false;  // the launcher itself listens at MASTER_PORT
};

[[noreturn]] void contradict(const std::string& name, int value, const std::string& other_name,
                             int other) {
  throw UsageError(name + " is " + std::to_string(value) + ", but " + other_name + " is " +
                   std::to_string(other) + ": they contradict each other");
}

struct Names {
  std::string rank, size, local_rank, local_size;
};

void check(const RankPlace& place, const Names& names) {
  if (place.rank >= place.size) contradict(names.rank, place.rank, names.size, place.size);
  if (place.local_size == 0) return;
  if (place.local_rank >= place.local_size) {
    contradict(names.local_rank, place.local_rank, names.local_size, place.local_size);
  }
  if (place.local_size > place.size)
    contradict(names.local_size, place.local_size, names.size, place.size);
}

// Jobs side by side on one host get ports of their own, below those that the system gives away.
int port_of_job(uint64_t job, uint64_t step) {
  constexpr uint64_t kFirst = 10240;
  constexpr uint64_t kSlots = 680;
  return static_cast<int>(kFirst + kPortsTried * ((job % kSlots + 97 * (step % kSlots)) % kSlots));
}

// FNV-1a: the same on every host.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

// One device is named, and not to all ranks of this host alike: Slurm gives a task of several the
// host's only device when it binds none.
bool names_own_device(const Variables& variables) {
  const std::string names =
      variables.text_or("CUDA_VISIBLE_DEVICES", variables.text_or("SLURM_STEP_GPUS", ""));
  if (names.empty() || names.find(',') != std::string::npos) return false;
  return variables.number("SLURM_GPUS_ON_NODE", 0).value_or(kMost) > 1;
}

std::string master_of(const Variables& variables) {
  return variables.text_or("MASTER_ADDR", "") + ":" + variables.text_or("MASTER_PORT", "");
}

LauncherInfo by_flags(const RankFlags& flags, const Variables& variables) {
  if (!flags.rank) throw UsageError("--world-size needs --rank");
  if (!flags.world_size) throw UsageError("--rank needs --world-size");
  LauncherInfo info;
  info.place.launcher = Launcher::kFlags;
  info.place.rank = whole_number("--rank", std::to_string(*flags.rank), 0, kMost);
  info.place.size = whole_number("--world-size", std::to_string(*flags.world_size), 1, kMost);
  info.place.local_rank = info.place.rank;
  info.place.local_size = info.place.size == 1 ? 1 : 0;
  info.place.own_device = !flags.local_rank && names_own_device(variables);
  check(info.place, {"--rank", "--world-size", "--local-rank", "--world-size"});
  if (info.place.size > 1 && flags.rendezvous.starts_with("file:") && flags.run_id.empty()) {
    throw UsageError(
        "--rendezvous file:PATH needs --run-id, the same for all ranks of this run and for no "
        "other "
        "run: by it they know their own file from one that an earlier run has left");
  }
  info.identity = flags.rendezvous.empty() ? master_of(variables) : flags.rendezvous;
  return info;
}

std::optional<LauncherInfo> by_torchrun(const Variables& variables) {
  if (!variables.has("RANK")) return std::nullopt;
  LauncherInfo info;
  RankPlace& place = info.place;
  place.launcher = Launcher::kTorchrun;
  place.rank = variables.needed_number("RANK", "RANK", 0);
  place.size = variables.needed_number("WORLD_SIZE", "RANK", 1);
  place.local_size = variables.number("LOCAL_WORLD_SIZE", 1).value_or(place.size == 1 ? 1 : 0);
  if (place.size > 1) place.local_rank = variables.needed_number("LOCAL_RANK", "RANK", 0);
  // Torchrun gives one environment to all; who sets its variables by hand may bind devices.
  place.own_device = !variables.has("TORCHELASTIC_RUN_ID") && names_own_device(variables);
  check(place, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"});
  // Many runs have the id "none": their rendezvous distinguishes them.
  info.identity = "torchrun/" + variables.text_or("TORCHELASTIC_RUN_ID", "none") + "/" +
                  variables.text_or("TORCHELASTIC_RESTART_COUNT", "0") + "/" + master_of(variables);
  info.port_taken = variables.text_or("TORCHELASTIC_USE_AGENT_STORE", "") == "True";
  return info;
}

// Without a step a batch script runs alone, whatever its job's SLURM_NTASKS.
std::optional<LauncherInfo> by_slurm(const Variables& variables) {
  const std::string step_size = "SLURM_STEP_NUM_TASKS";
  if (!variables.has(step_size)) return std::nullopt;
  LauncherInfo info;
  RankPlace& place = info.place;
  place.launcher = Launcher::kSlurm;
  place.rank = variables.needed_number("SLURM_PROCID", step_size, 0);
  place.size = variables.needed_number(step_size, step_size, 1);
  place.local_rank = variables.needed_number("SLURM_LOCALID", step_size, 0);
  const std::string tasks_name = variables.has("SLURM_STEP_TASKS_PER_NODE")
                                     ? "SLURM_STEP_TASKS_PER_NODE"
                                     : "SLURM_TASKS_PER_NODE";
  place.local_size = base::count_of_host(variables.text_or(tasks_name, ""),
                                         variables.number("SLURM_NODEID", 0).value_or(0))
                         .value_or(0);
  place.own_device = names_own_device(variables);
  check(place, {"SLURM_PROCID", step_size, "SLURM_LOCALID", tasks_name});
  return info;
}

void add_rendezvous_by_slurm(LauncherInfo& info, const Variables& variables) {
  const int job = variables.needed_number("SLURM_JOB_ID", "SLURM_STEP_NUM_TASKS", 0);
  const int step = variables.needed_number("SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", 0);
  info.identity = "slurm/" + variables.text_or("SLURM_CLUSTER_NAME", "") + "/" +
                  std::to_string(job) + "." + std::to_string(step) + "/" +
                  variables.text_or("SLURM_RESTART_COUNT", "0");
  info.port = port_of_job(static_cast<uint64_t>(job), static_cast<uint64_t>(step));
  const std::string name =
      variables.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  const std::optional<std::string> list = variables.text(name);
  if (!list) return;
  const auto hosts = base::hosts_in(*list);
  if (!hosts || hosts->empty()) {
    throw UsageError(name + ": expected Slurm's list of hosts, such as node[01-04], got '" + *list +
                     "'");
  }
  info.host = hosts->size() > 1 ? hosts->front() : "127.0.0.1";
}

std::optional<LauncherInfo> by_open_mpi(const Variables& variables) {
  const std::string rank = "OMPI_COMM_WORLD_RANK";
  const std::string size = "OMPI_COMM_WORLD_SIZE";
  if (!variables.has(rank) && !variables.has(size)) return std::nullopt;
  LauncherInfo info;
  RankPlace& place = info.place;
  place.launcher = Launcher::kOpenMpi;
  place.rank = variables.needed_number(rank, size, 0);
  place.size = variables.needed_number(size, rank, 1);
  place.local_rank = variables.needed_number("OMPI_COMM_WORLD_LOCAL_RANK", rank, 0);
  place.local_size = variables.needed_number("OMPI_COMM_WORLD_LOCAL_SIZE", rank, 1);
  place.own_device = names_own_device(variables);
  check(place,
        {rank, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"});
  const std::string job =
      variables.text_or("PMIX_NAMESPACE", variables.text_or("OMPI_MCA_ess_base_jobid", ""));
  info.identity = "openmpi/" + job + "/" + master_of(variables);
  if (!job.empty()) info.port = port_of_job(hash_of(job), 0);
  if (place.local_size == place.size) info.host = "127.0.0.1";
  return info;
}

LauncherInfo by_launcher(const RankFlags& flags, const Variables& variables) {
  if (flags.rank || flags.world_size) return by_flags(flags, variables);
  if (const std::optional<LauncherInfo> info = by_torchrun(variables)) return *info;
  const std::optional<LauncherInfo> open_mpi = by_open_mpi(variables);
  std::optional<LauncherInfo> slurm = by_slurm(variables);
  // Open MPI starts its daemons by a step of Slurm, whose variables the ranks inherit: one of each
  // host, which the ranks need not be.
  const bool of_daemons =
      open_mpi && slurm &&
      (open_mpi->place.rank != slurm->place.rank || open_mpi->place.size != slurm->place.size ||
       open_mpi->place.local_size != slurm->place.local_size);
  if (slurm && !of_daemons) {
    if (slurm->place.size > 1) add_rendezvous_by_slurm(*slurm, variables);
    return *slurm;
  }
  if (open_mpi) return *open_mpi;
  if (variables.number("WORLD_SIZE", 1).value_or(1) > 1) {
    throw UsageError("RANK is not set although WORLD_SIZE is " + *variables.text("WORLD_SIZE") +
                     ": start the ranks by torchrun, srun or mpirun, or unset WORLD_SIZE");
  }
  if (flags.local_rank) throw UsageError("--local-rank needs --rank and --world-size");
  if (!flags.rendezvous.empty()) {
    throw UsageError("--rendezvous needs --rank and --world-size, or a launcher");
  }
  return {};
}

// Torchrun's variable beside another launcher: a script that sets it means to start that many.
std::string note_of_world_size(const RankPlace& place, const Variables& variables) {
  const std::optional<std::string> given = variables.text("WORLD_SIZE");
  if (!given || place.launcher == Launcher::kTorchrun || *given == std::to_string(place.size)) {
    return "";
  }
  const std::string by = place.launcher == Launcher::kFlags   ? "--world-size"
                         : place.launcher == Launcher::kSlurm ? "SLURM_STEP_NUM_TASKS"
                                                              : "OMPI_COMM_WORLD_SIZE";
  if (place.launcher == Launcher::kAlone) return "";
  return "WORLD_SIZE is " + *given + ", but " + by + " is " + std::to_string(place.size) + ": " +
         std::to_string(place.size) + " counts; unset WORLD_SIZE, or start as many ranks";
}

Rendezvous rendezvous_by_flag(const std::string& text) {
  Rendezvous rendezvous;
  if (text.starts_with("file:")) {
    rendezvous.file = text.substr(5);
    if (rendezvous.file.empty())
      throw UsageError("--rendezvous file: needs a path after the colon");
    return rendezvous;
  }
  const size_t colon = text.rfind(':');
  rendezvous.host = text.substr(0, colon);
  if (rendezvous.host.starts_with('[') && rendezvous.host.ends_with(']')) {  // an IPv6 address
    rendezvous.host = rendezvous.host.substr(1, rendezvous.host.size() - 2);
  } else if (rendezvous.host.find(':') != std::string::npos) {
    throw UsageError("--rendezvous '" + text + "': write an IPv6 address as [ADDRESS]:PORT");
  }
  if (colon == std::string::npos || rendezvous.host.empty()) {
    throw UsageError("--rendezvous '" + text + "' is neither HOST:PORT nor file:PATH");
  }
  rendezvous.port = whole_number("the port of --rendezvous", text.substr(colon + 1), 1, kLastPort);
  return rendezvous;
}

Rendezvous rendezvous_of(const LauncherInfo& info, const std::string& flag,
                         const Variables& variables) {
  if (!flag.empty()) return rendezvous_by_flag(flag);
  Rendezvous rendezvous;
  rendezvous.host = variables.text_or("MASTER_ADDR", info.host);
  rendezvous.port = variables.number("MASTER_PORT", 1, kLastPort - 1).value_or(info.port);
  const std::string missing = rendezvous.host.empty() ? "MASTER_ADDR"
                              : rendezvous.port == 0  ? "MASTER_PORT"
                                                      : "";
  if (!missing.empty()) {
    throw UsageError("where the " + std::to_string(info.place.size) +
                     " ranks meet is not known: set " + missing +
                     ", or give --rendezvous HOST:PORT or --rendezvous file:PATH, the same to all");
  }
  if (info.port_taken) ++rendezvous.port;
  rendezvous.ports = std::min(kPortsTried, kLastPort + 1 - rendezvous.port);
  return rendezvous;
}

std::string name_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::kAlone:
      return "alone";
    case Launcher::kFlags:
      return "flags";
    case Launcher::kTorchrun:
      return "torchrun";
    case Launcher::kSlurm:
      return "Slurm";
    case Launcher::kOpenMpi:
      return "Open MPI";
  }
  return "";
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

RankPlace find_rank(const RankFlags& flags, const Environment& environment) {
  const Variables variables(environment);
  const LauncherInfo info = by_launcher(flags, variables);
  RankPlace place = info.place;
  if (flags.local_rank) {
    place.local_rank = whole_number("--local-rank", std::to_string(*flags.local_rank), 0, kMost);
    if (place.local_rank >= place.size) {
      contradict("--local-rank", place.local_rank, "the number of ranks", place.size);
    }
    place.own_device = false;
  }
  if (place.size > 1) place.rendezvous = rendezvous_of(info, flags.rendezvous, variables);
  place.nonce = flags.run_id.empty() ? info.identity : flags.run_id;
  place.note = note_of_world_size(place, variables);
  return place;
}

std::string describe_rank(const RankPlace& place) {
  return "rank " + std::to_string(place.rank) + " of " + std::to_string(place.size) + " (" +
         name_of(place.launcher) + ")";
}

int device_of_rank(const RankPlace& place, int visible) {
  if (place.own_device && visible == 1) return 0;
  if (place.local_rank < visible) return place.local_rank;
  throw UsageError(describe_rank(place) + " is number " + std::to_string(place.local_rank) +
                   " on its host, counted from 0, but sees " + base::counted(visible, "device") +
                   ": start at most one rank for each device (srun --gpus-per-task=1 binds one "
                   "to each; --local-rank says which this one takes)");
}

}  // namespace engine
