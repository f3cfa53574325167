#include "slurm/refusals.h"

#include <gtest/gtest.h>

#include <string>

#include "slurm/commands/parse.h"
#include "slurm/rest/json.h"

namespace slurm {
namespace {

SubmitResult by_rest(int code) {
  return classify_submit(
      {.status = 500,
       .body = R"({"errors": [{"error_number": )" + std::to_string(code) + R"(, "error": "x"}]})"});
}

SubmitResult by_sbatch(const std::string& sentence) {
  return classify_sbatch(
      {.ending = CommandResult::Ending::kEnded,
       .exit_code = 1,
       .error = "sbatch: error: Batch job submission failed: " + sentence + "\n"});
}

TEST(SlurmRefusal, IsTheSameByItsNumberAndByItsSentence) {
  for (const SlurmRefusal& refusal : slurm_refusals()) {
    EXPECT_EQ(by_rest(refusal.code).outcome, SubmitOutcome::kRejected) << refusal.code;
    EXPECT_EQ(by_rest(refusal.code).refusal, refusal.kind) << refusal.code;
    if (refusal.sentence.empty()) continue;
    const std::string sentence(refusal.sentence);
    EXPECT_EQ(by_sbatch(sentence).outcome, SubmitOutcome::kRejected) << sentence;
    EXPECT_EQ(by_sbatch(sentence).refusal, refusal.kind) << sentence;
  }
}

TEST(SlurmRefusal, OfAClosedPartitionOrReservationIsOfTheMoment) {
  for (const int code : {2056, 2070, 2105})
    EXPECT_EQ(by_rest(code).refusal, Refusal::kBusy) << code;
  for (const int code : {2041, 2124}) EXPECT_EQ(by_rest(code).refusal, Refusal::kJob) << code;
}

}  // namespace
}  // namespace slurm
