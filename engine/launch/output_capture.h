// Keeps what a child process writes until it is needed, in memory. Throws std::system_error.
#pragma once

#include <string>

namespace engine {

class OutputCapture {
 public:
  OutputCapture();  // throws std::system_error
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // For the process to write to; closed by exec unless it is duplicated.
  int file() const { return file_; }
  // All of it, or the last 64 KiB, from the start of a line.
  std::string text() const;

 private:
  int file_;
};

}  // namespace engine
