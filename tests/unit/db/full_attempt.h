// An attempt with a value in every field.
#pragma once

#include <cstdint>
#include <string>

#include "db/attempts.h"

namespace db {

// Two of them with another `other` differ in what an update may change.
inline Attempt full_attempt(int64_t item, int other) {
  const std::string text = std::to_string(other);
  return {.item_id = item,
          .number = 3,
          .token = "t",
          .state = other != 0 ? AttemptState::kRunning : AttemptState::kPending,
          .cause = "cause " + text,
          .message = "message " + text,
          .shape = "1 device",
          .explanation = "alone",
          .script = "#!/bin/sh",
          .script_sha256 = "s",
          .config_sha256 = "c",
          .directory = "/a",
          .resume_from = "/older",
          .job_id = "1" + text,
          .host = "n" + text,
          .exit_code = 4 + other,
          .cluster_words = "WORDS " + text,
          .cluster_reason = "Reason " + text,
          .restarts = 5 + other,
          .gpus = 2,
          .nodes = 3,
          .gpus_per_node = 4,
          .release_due = other != 0,
          .stop_asked = 60 + other,
          .created = 7,
          .submitted = 70 + other,
          .started = 80 + other,
          .ended = 90 + other};
}

}  // namespace db
