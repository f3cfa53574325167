// A folder for the while that something runs.
#pragma once

#include <string>

namespace base {

// Nobody else's, and gone with this object. Throws FileError.
class PrivateFolder {
 public:
  // Its name has this word in it; in `parent`, or under TMPDIR.
  explicit PrivateFolder(const std::string& word, const std::string& parent = "");
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace base
