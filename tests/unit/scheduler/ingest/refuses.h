// A matcher of refusals, for tests of this room.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "scheduler/ingest/ingest_error.h"

namespace scheduler::ingest {

// Throws IngestError with both texts in its message.
inline auto refuses(const std::string& one, const std::string& other = "") {
  return testing::ThrowsMessage<IngestError>(
      testing::AllOf(testing::HasSubstr(one), testing::HasSubstr(other)));
}

}  // namespace scheduler::ingest
