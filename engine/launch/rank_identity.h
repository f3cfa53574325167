// Finds which rank this process is among the ranks of one search, and where they meet. One rank is
// one device. Pure but for process_environment().
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace engine {

// Options of the command line; they go before every variable.
struct RankFlags {
  std::optional<int> rank, world_size, local_rank;
  std::string rendezvous;  // HOST:PORT or file:PATH; empty: by the launcher
  std::string run_id;      // --run-id; empty: of the launcher's job and try
};

// The value of a variable, if it is set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

enum class Launcher { kAlone, kFlags, kTorchrun, kSlurm, kOpenMpi };

// Where rank 0 listens for the others.
struct Rendezvous {
  std::string file;  // into which rank 0 writes its address; empty: host and port are known
  std::string host;  // of rank 0
  int port = 0;      // the first that all ranks try
  int ports = 1;     // how many to try: two jobs on one host may have the same first
};

struct RankPlace {
  Launcher launcher = Launcher::kAlone;
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the ranks on this host
  int local_size = 1;  // 0: not known
  // The one device that this process sees was bound to this rank; other ranks have others.
  bool own_device = false;
  Rendezvous rendezvous;
  // The same for all ranks of one try at one search and for no other: begins every connection.
  std::string nonce;
  // What rank 0 should say of variables that were not followed; empty: nothing.
  std::string note{};

  bool first() const { return rank == 0; }
};

// From, in this order: flags, torchrun, Slurm, Open MPI; alone where there is none. (Where a step
// of Slurm holds Open MPI's own daemons, Open MPI is asked.) By flags the ranks are taken to be on
// one host, in order, unless --local-rank says otherwise. Throws UsageError naming the variable or
// flag that is missing, no number, out of range or contradicts another.
RankPlace find_rank(const RankFlags& flags, const Environment& environment);

// "rank 3 of 8 (Slurm)".
std::string describe_rank(const RankPlace& place);

// Returns which of the `visible` devices this rank takes: the only one where one was bound to each
// rank, else the one of its local rank. Throws UsageError when there are fewer devices than ranks
// on this host. (One environment given to several ranks by hand looks like a binding: only the
// ranks together can see that they have the same device.)
int device_of_rank(const RankPlace& place, int visible);

}  // namespace engine
