// Slurm's refusals of a submission: slurmrestd reports them by number, sbatch by sentence. Each
// proves that no job was made; what is not here proves nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "slurm/cluster.h"

namespace slurm {

constexpr int kBadAuthentication = 1007;

struct SlurmRefusal {
  int code = 0;               // of slurm_errno.h
  std::string_view sentence;  // how slurm_strerror(code) begins; empty: as a sentence no proof
  Refusal kind = Refusal::kNone;
};

std::span<const SlurmRefusal> slurm_refusals();
// kNone: not a proven refusal.
Refusal refusal_of_code(int64_t code);
// Of a text that begins with Slurm's sentence.
Refusal refusal_of_sentence(std::string_view text);

}  // namespace slurm
