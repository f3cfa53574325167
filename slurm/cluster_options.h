// Settings of the two transports to Slurm, slurmrestd and Slurm's commands: plain values, so that
// whoever fills them in needs to include neither transport.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>

namespace slurm {

// Whether slurmdbd's records are asked for jobs that the controller has forgotten.
enum class Accounting {
  kAuto,  // where the site has accounting
  kOn,    // always; while it cannot be reached, it is not known whether a job exists
  kOff,
};

struct HttpOptions {
  std::string url{};  // "http://host:6820", "https://...", or "unix:/run/slurmrestd/socket"
  std::chrono::milliseconds connect_timeout{5000};
  // Limit of a whole request. slurmrestd may take 18 s to report that its controller is down.
  std::chrono::milliseconds timeout{25'000};
  std::string ca_file{};      // PEM; empty: the system's
  std::string certificate{};  // the client's, PEM
  std::string key{};          // that certificate's key, PEM
  bool verify = true;         // whether the server's certificate and name are checked
  std::string proxy{};        // empty: none, whatever the environment says
};

// Milliseconds of a clock that never jumps.
inline int64_t steady_clock_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

// Options of both transports.
struct AccessOptions {
  std::string name_prefix{};  // "margay-<instance>-": other jobs are ignored
  // Least time between two listings; five times the duration of the last listing if that is longer.
  std::chrono::milliseconds poll{10'000};
  int requests_per_minute = 120;
  Accounting accounting = Accounting::kAuto;
  std::function<int64_t()> steady_ms = steady_clock_ms;  // milliseconds of a clock that never jumps
  // Seconds since the epoch; tests set their own.
  std::function<int64_t()> now = [] { return int64_t{std::time(nullptr)}; };
};

struct RestClusterOptions : AccessOptions {
  HttpOptions http{};
  std::string token_file{};   // empty: none (a Unix socket with rest_auth/local)
  std::string user{};         // X-SLURM-USER-NAME; empty: the one that the token names
  std::string api_version{};  // "v0.0.40"; empty: the newest that both sides know
};

struct CliClusterOptions : AccessOptions {
  std::string commands{};                     // folder of sbatch and the others; empty: PATH
  std::chrono::milliseconds timeout{25'000};  // of each command
  std::string scratch{};                      // folder for the scripts that sbatch reads
};

}  // namespace slurm
