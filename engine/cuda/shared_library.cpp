#include "engine/cuda/shared_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "engine/error.h"

namespace engine::cuda {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void* open(const std::string& name) { return dlopen(name.c_str(), RTLD_NOW | RTLD_NODELETE); }

std::string loaders_words() {
  const char* words = dlerror();
  return words != nullptr ? words : "no reason given";
}

}  // namespace

SharedLibrary::SharedLibrary(const LibrarySearch& search) : remedy_(search.remedy) {
  std::string reasons;
  const auto try_to_open = [&](const std::string& name) {
    handle_ = open(name);
    if (handle_ != nullptr) {
      opened_ = name;
    } else {
      const std::string words = loaders_words();
      // The error below names all places at once.
      if (words != name + ": cannot open shared object file: No such file or directory") {
        reasons += (reasons.empty() ? " (" : "; ") + words;
      }
    }
    return handle_ != nullptr;
  };
  std::error_code ignored;
  for (const std::string& name : search.names) {
    if (try_to_open(name)) return;
    for (const std::string& folder : search.folders) {
      const std::filesystem::path path = std::filesystem::path(folder) / name;
      if (std::filesystem::exists(path, ignored) && try_to_open(path.string())) return;
    }
  }
  throw Error(ExitCode::kDeviceFault,
              search.what + " cannot be opened: none of " + listed(search.names) +
                  " is where the system's loader looks or in " + listed(search.folders) +
                  (reasons.empty() ? "" : reasons + ")") + ". To do: " + search.remedy);
}

void* SharedLibrary::address_of(const char* name) const {
  void* address = dlsym(handle_, name);
  if (address == nullptr) {
    throw Error(ExitCode::kDeviceFault,
                opened_ + " has no " + name + " (" + loaders_words() + "). To do: " + remedy_);
  }
  return address;
}

}  // namespace engine::cuda
