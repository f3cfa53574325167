// Implements write_mrc of mrc.h.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/mrc_bytes.h"
#include "engine/error.h"
#include "engine/io/mrc.h"

namespace engine {
namespace {

using namespace base::mrc_bytes;  // the field offsets

class OutputFile {
 public:
  OutputFile(base::Descriptor file, std::string shown_as)
      : shown_as_(std::move(shown_as)), file_(std::move(file)) {
    if (!file_) fail("cannot be written");
  }

  void write(const void* data, size_t size) {
    const std::string_view bytes(static_cast<const char*>(data), size);
    if (!base::write_all(file_.get(), bytes)) fail("could not be written");
  }

  // Errors of a network file system may show up only here.
  void finish() {
    if (::fsync(file_.get()) != 0) fail("could not be flushed to disk");
    if (file_.close() != 0) fail("could not be closed");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const bool full = errno == ENOSPC || errno == EDQUOT;
    throw Error(ExitCode::kBadInput, "'" + shown_as_ + "' " + what + ": " + std::strerror(errno) +
                                         (full ? "; make room or choose another folder" : ""));
  }

  std::string shown_as_;
  base::Descriptor file_;
};

void put_statistics(HeaderBytes& bytes, const std::vector<float>& values) {
  if (values.empty()) return;
  double sum = 0;
  for (const float value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const float value : values) squares += (value - mean) * (value - mean);
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  put<float>(bytes, kDmin, *lowest);
  put<float>(bytes, kDmax, *highest);
  put<float>(bytes, kDmean, static_cast<float>(mean));
  put<float>(bytes, kRms,
             static_cast<float>(std::sqrt(squares / static_cast<double>(values.size()))));
}

HeaderBytes make_header(int nx, int ny, int nz, const std::vector<float>& values,
                        double pixel_size) {
  HeaderBytes bytes = {};
  const std::array<int, 3> sides = {nx, ny, nz};
  for (size_t axis = 0; axis < 3; ++axis) {
    put<int32_t>(bytes, kNx + 4 * axis, sides[axis]);
    put<int32_t>(bytes, kMx + 4 * axis, sides[axis]);
    put<float>(bytes, kCellA + 4 * axis, static_cast<float>(pixel_size * sides[axis]));
    put<float>(bytes, kCellB + 4 * axis, 90.0f);
    put<int32_t>(bytes, kMapC + 4 * axis, static_cast<int32_t>(axis) + 1);
  }
  put<int32_t>(bytes, kMode, 2);
  put_statistics(bytes, values);
  put<int32_t>(bytes, kSpaceGroup, nz == 1 ? 0 : 1);
  put<int32_t>(bytes, kVersion, 20141);
  std::memcpy(bytes.data() + kMapStamp, "MAP ", 4);
  bytes[kMachineStamp] = std::endian::native == std::endian::little ? 0x44 : 0x11;
  bytes[kMachineStamp + 1] = bytes[kMachineStamp];
  put<int32_t>(bytes, kLabelCount, 1);
  // No time of day: equal results are equal files.
  const std::string label = "Margay, 2D template matching";
  std::fill_n(bytes.begin() + kLabels, kLabelSize, static_cast<unsigned char>(' '));
  std::copy(label.begin(), label.end(), bytes.begin() + kLabels);
  return bytes;
}

struct Values {
  int nx, ny, nz;
  const std::vector<float>& values;
};

void write_values(base::Descriptor descriptor, const std::string& shown_as, const Values& values,
                  double pixel_size) {
  OutputFile file(std::move(descriptor), shown_as);
  const HeaderBytes header =
      make_header(values.nx, values.ny, values.nz, values.values, pixel_size);
  file.write(header.data(), header.size());
  file.write(values.values.data(), values.values.size() * sizeof(float));
  file.finish();
}

// A half-written file is removed, unless it is something else than a regular file (a device).
void write_values(const std::string& path, const Values& values, double pixel_size) {
  base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  struct stat status = {};
  const bool ours = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
  try {
    write_values(std::move(file), path, values, pixel_size);
  } catch (...) {
    if (ours) ::unlink(path.c_str());
    throw;
  }
}

}  // namespace

void write_mrc(const std::string& path, const Image& image, double pixel_size) {
  write_values(path, {image.width, image.height, 1, image.pixels}, pixel_size);
}

void write_mrc(const std::string& path, const Volume& volume, double pixel_size) {
  write_values(path, {volume.size, volume.size, volume.size, volume.voxels}, pixel_size);
}

void write_mrc(base::Descriptor file, const Image& image, double pixel_size,
               const std::string& shown_as) {
  write_values(std::move(file), shown_as, {image.width, image.height, 1, image.pixels}, pixel_size);
}

}  // namespace engine
