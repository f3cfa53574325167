// What a process writes, kept until somebody wants to see it.
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
  // Or the end of it.
  std::string text() const;

 private:
  int file_;
};

}  // namespace engine
