// Finds which rank this process is among the ranks of one search, and where they meet. Each rank
// uses one device. Pure functions, except for process_environment().
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace engine {

// Options of the command line, which take precedence over every variable.
struct RankFlags {
  std::optional<int> rank, world_size, local_rank;
  std::string rendezvous;  // HOST:PORT or file:PATH; empty: from the launcher
  std::string run_id;      // --run-id; empty: made from the launcher's job and attempt
};

// Returns the value of a variable, if it is set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

enum class Launcher { kAlone, kFlags, kTorchrun, kSlurm, kOpenMpi };

// Where rank 0 listens for the others.
struct Rendezvous {
  std::string file;  // where rank 0 writes its address; empty: host and port are known
  std::string host;  // of rank 0
  int port = 0;      // the first port that all ranks try
  int ports = 1;     // how many to try: two jobs on one host may have the same first port
};

struct RankPlace {
  Launcher launcher = Launcher::kAlone;
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the ranks on this host
  int local_size = 1;  // 0: not known
  // True: the launcher bound to this rank the one device that it sees; other ranks have others.
  bool own_device = false;
  Rendezvous rendezvous;
  // Every connection begins with it; it is the same for all ranks of one attempt at one search, and
  // differs between attempts and searches.
  std::string nonce;
  // A sentence for rank 0 to print about a variable that was ignored; empty: nothing.
  std::string note{};

  bool first() const { return rank == 0; }
};

// Returns the rank given by the flags, else by torchrun, Slurm or Open MPI, in this order; without
// any of them the process is alone. (Where a step of Slurm runs Open MPI's daemons, Open MPI goes
// first.) Ranks given by flags are assumed to be on one host, in order, unless --local-rank says
// otherwise. Throws UsageError naming the variable or flag that is missing, is no number, is out of
// range or contradicts another.
RankPlace find_rank(const RankFlags& flags, const Environment& environment);

// Returns for example "rank 3 of 8 (Slurm)".
std::string describe_rank(const RankPlace& place);

// Returns which of the `visible` devices this rank uses: the only one where one was bound to each
// rank, else the device at its local rank. Throws UsageError where there is no such device. (An
// environment that a user has copied to several ranks looks like a binding: only the ranks together
// can find out that they have the same device.)
int device_of_rank(const RankPlace& place, int visible);

}  // namespace engine
