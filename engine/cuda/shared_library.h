// A library that is opened when it is needed, so that the program starts on machines without it.
#pragma once

#include <string>
#include <vector>

namespace engine::cuda {

struct LibrarySearch {
  std::string what;                  // "cuFFT", for messages
  std::vector<std::string> names;    // such as "libcufft.so.12", the best first
  std::vector<std::string> folders;  // searched when the system's loader finds no name
  std::string remedy;                // what the user can do
};

// An opened library, which stays open until the program ends.
class SharedLibrary {
 public:
  // Opens the first of the names that the system's loader finds (LD_LIBRARY_PATH, ldconfig) or that
  // is in one of the folders. Throws Error(kDeviceFault) naming them all.
  explicit SharedLibrary(const LibrarySearch& search);

  // Sets `function` to the library's function `name`. Throws Error(kDeviceFault) where it has none.
  template <typename Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;

  std::string opened_;  // the name or path that was opened
  std::string remedy_;
  void* handle_ = nullptr;
};

}  // namespace engine::cuda
