// Keeps in memory what a child process writes. Throws std::system_error.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace engine {

class OutputCapture {
 public:
  OutputCapture();  // throws std::system_error

  // The file into which the process writes. exec closes it unless it is duplicated.
  int file() const { return file_.get(); }
  // Returns everything that was written, or whole lines from its last 64 KiB.
  std::string text() const;

 private:
  base::Descriptor file_;
};

}  // namespace engine
