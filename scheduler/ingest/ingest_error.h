// The error for files that list micrographs or their CTF.
#pragma once

#include <stdexcept>

namespace scheduler::ingest {

// The message names the file, the line and what to do.
class IngestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace scheduler::ingest
