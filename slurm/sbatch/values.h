// Converts values of sbatch's options from what people write to canonical texts and numbers. Pure;
// nullopt: the text is invalid or the value is unreasonably large.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slurm {

// A plain decimal number without a sign.
std::optional<int64_t> parse_count(const std::string& text);

// Seconds from "minutes", "m:s", "h:m:s", "d-h", "d-h:m" or "d-h:m:s"; -1 for UNLIMITED, INFINITE
// and 0, as in sbatch.
std::optional<int64_t> parse_time(const std::string& text);
// "01:30:00", "2-00:00:00", "UNLIMITED".
std::string time_text(int64_t seconds);

// Megabytes (2^20 bytes) from "500", "32G", "1T" or "100K"; rounded up.
std::optional<int64_t> parse_memory(const std::string& text);
std::string memory_text(int64_t megabytes);  // in the largest unit that is whole

// "2" is {2, 2}.
struct NodeRange {
  int least = 1;
  int most = 1;
};
std::optional<NodeRange> parse_nodes(const std::string& text);

// "gpu:a100:2" of a --gres, or "a100:2" and "2" of a --gpus...
struct Gres {
  std::string name{};
  std::string type{};
  int64_t count = 1;
};
std::optional<std::vector<Gres>> parse_gres(const std::string& text);  // empty: "none"
std::string gres_text(const std::vector<Gres>& entries);
std::optional<Gres> parse_gpus(const std::string& text);
// The number of GPUs that a --gres asks for.
int64_t gpus_of_gres(const std::string& text);

// "USR1@120", "SIGUSR1" (60 s), "10@120".
struct EarlySignal {
  std::string name{};
  int seconds = 60;
};
std::optional<EarlySignal> parse_signal(const std::string& text);

}  // namespace slurm
