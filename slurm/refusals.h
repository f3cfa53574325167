// Slurm's refusals of a submission: slurmrestd reports them by number, sbatch by sentence. Each
// proves that no job was made; an answer that is not in the list proves nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "slurm/cluster.h"

namespace slurm {

constexpr int kBadAuthentication = 1007;

struct SlurmRefusal {
  int code = 0;  // of slurm_errno.h
  // How slurm_strerror(code) begins; empty: the sentence alone is no proof.
  std::string_view sentence;
  Refusal kind = Refusal::kNone;
};

std::span<const SlurmRefusal> slurm_refusals();
// kNone: not a proven refusal.
Refusal refusal_of_code(int64_t code);
// The refusal for a text that begins with one of the sentences; kNone: it is not a proven refusal.
Refusal refusal_of_sentence(std::string_view text);

}  // namespace slurm
