// A disk of a test's own that can be filled. Only root can mount it.
#pragma once

#include <sys/mount.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace tests {

class SmallDisk {
 public:
  // In `folder`, which is made where it is missing. `size` as mount takes it.
  explicit SmallDisk(const std::string& folder, const std::string& size = "32m") : folder_(folder) {
    std::filesystem::create_directory(folder);
    mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_mounted() const { return mounted_; }
  // To the last byte, with a file `fill`.
  void fill() const {
    std::ofstream file(folder_ + "/fill", std::ios::binary | std::ios::app);
    for (const size_t size : {size_t{1} << 20, size_t{4096}}) {
      const std::string block(size, 'x');
      while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
      file.clear();
    }
  }

 private:
  std::string folder_;
  bool mounted_ = false;
};

}  // namespace tests
