// The exceptions for system calls that failed.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace base {

// A file or folder cannot be read or written. what() names the object and the system's reason, and
// says for a full disk what to do: "cannot write 'a/b': No space left on device; the disk is full:
// ...".
class FileError : public std::system_error {
 public:
  // `what` names the operation and the object; `error` is an errno.
  FileError(int error, const std::string& what)
      : std::system_error(error, std::generic_category(), what),
        message_(std::system_error::what()) {
    if (error == ENOSPC) {
      message_ += "; the disk is full: free some space or choose another folder";
    } else if (error == EDQUOT) {
      message_ += "; free some space or choose another folder";
    }
  }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// Throws std::system_error: `what`, followed by errno's reason.
[[noreturn]] inline void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace base
