// An owning file descriptor, and functions that read or write everything in spite of short counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace base {

// Owns a file descriptor; a negative one stands for none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  // Closes what is owned, leaves errno as it was, and owns `number`.
  void reset(int number = -1);
  // close(2), with its result: a network file system reports a full disk only there.
  int close();

 private:
  int number_;
};

// Writes all bytes. Returns false, with errno set, where that fails.
bool write_all(int descriptor, std::string_view bytes);

// Reads from the current offset to the end, but at most `most` bytes. Returns nullopt, with errno
// set, where that fails.
std::optional<std::string> read_all(int descriptor, size_t most = std::string::npos);

}  // namespace base
