// A folder of a test's own, removed with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace tests {

class ScratchFolder {
 public:
  explicit ScratchFolder(
      const std::filesystem::path& place = std::filesystem::temp_directory_path()) {
    std::string name = (place / "margay-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder: " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;  // a folder left over harms nobody
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string operator/(const std::string& name) const { return file(name); }

  // Returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream stream(file(name), std::ios::binary);
    stream << text;
    if (!stream.flush()) throw std::runtime_error("cannot write " + file(name));
    return file(name);
  }

 private:
  std::string path_;
};

inline std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace tests
