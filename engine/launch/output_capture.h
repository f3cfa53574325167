// Keeps what a child process writes until it is needed, in memory. Throws std::system_error.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace engine {

class OutputCapture {
 public:
  OutputCapture();  // throws std::system_error

  // For the process to write to; closed by exec unless it is duplicated.
  int file() const { return file_.get(); }
  // All of it, or the last 64 KiB, from the start of a line.
  std::string text() const;

 private:
  base::Descriptor file_;
};

}  // namespace engine
