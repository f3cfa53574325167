// A disk of a test's own that can be filled. Only root can mount it.
#pragma once

#include <sys/mount.h>

#include <fstream>
#include <string>

namespace tests {

class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : folder_(folder) {
    mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=32m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_mounted() const { return mounted_; }
  // With a file `fill`.
  void fill() const {
    std::ofstream file(folder_ + "/fill", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
  }

 private:
  std::string folder_;
  bool mounted_ = false;
};

}  // namespace tests
