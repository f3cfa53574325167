// A temporary folder that only this user can open.
#pragma once

#include <string>

namespace base {

// Makes the folder, and removes it with its contents in the destructor.
class PrivateFolder {
 public:
  // Makes it in `parent`, or under TMPDIR where that is empty; its name contains `word`. Throws
  // FileError.
  explicit PrivateFolder(const std::string& word, const std::string& parent = "");
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace base
