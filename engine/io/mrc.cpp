#include "engine/io/mrc.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <memory>
#include <utility>

#include "base/sha256.h"
#include "engine/error.h"
#include "engine/io/mrc_bytes.h"

namespace engine {
namespace {

using namespace mrc_bytes;  // the field offsets

constexpr bool kLittleEndianHost = std::endian::native == std::endian::little;

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw InputError("'" + path + "' " + problem);
}

[[noreturn]] void refuse_unreadable(const std::string& path) {
  refuse(path, "could not be read to its end; it may be changing, or the disk may be failing");
}

// A file open for reading and its size in bytes.
struct Source {
  std::ifstream stream;
  int64_t size = 0;
  // Of what was read, in its order: what is hashed is what is decoded, whoever writes meanwhile.
  std::unique_ptr<base::Sha256> hash{};

  // The number of bytes that there were.
  size_t read(void* bytes, size_t count) {
    stream.read(static_cast<char*>(bytes), static_cast<std::streamsize>(count));
    const auto got = static_cast<size_t>(stream.gcount());
    if (hash) hash->add(bytes, got);
    return got;
  }
};

Source open_source(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    refuse(path, errno == ENOENT || errno == ENOTDIR
                     ? std::string("does not exist")
                     : std::string("cannot be opened: ") + std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) refuse(path, "is a folder, not an MRC file");
  if (!S_ISREG(status.st_mode)) refuse(path, "is not a regular file");
  Source source;
  errno = 0;
  source.stream.open(path, std::ios::binary);
  if (!source.stream) refuse(path, std::string("cannot be opened: ") + std::strerror(errno));
  source.size = static_cast<int64_t>(status.st_size);
  return source;
}

int int_at(const HeaderBytes& bytes, size_t offset, bool swapped) {
  return get<int32_t>(bytes.data() + offset, swapped);
}

struct Half {
  uint16_t bits;

  explicit operator float() const {
    const float sign = (bits & 0x8000u) != 0 ? -1.0f : 1.0f;
    const int exponent = (bits >> 10) & 0x1f;
    const int fraction = bits & 0x3ff;
    if (exponent == 31) {
      return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                           : std::numeric_limits<float>::quiet_NaN();
    }
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
};

// Converts `count` values into `out`.
template <typename T>
void convert(const unsigned char* bytes, size_t count, bool swapped, float* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(get<T>(bytes + i * sizeof(T), swapped));
  }
}

struct Mode {
  int number;
  size_t bytes;  // of a value
  const char* type;
  decltype(&convert<float>) convert_values;
};
constexpr std::array<Mode, 5> kModes = {{{0, 1, "int8", convert<int8_t>},
                                         {1, 2, "int16", convert<int16_t>},
                                         {2, 4, "float32", convert<float>},
                                         {6, 2, "uint16", convert<uint16_t>},
                                         {12, 2, "float16", convert<Half>}}};

// Null for a mode that cannot be read.
const Mode* find_mode(int number) {
  const auto found = std::find_if(kModes.begin(), kModes.end(),
                                  [&](const Mode& mode) { return mode.number == number; });
  return found == kModes.end() ? nullptr : &*found;
}

bool known_to_the_format(int mode) {
  return find_mode(mode) != nullptr || mode == 3 || mode == 4 || mode == 16 || mode == 101;
}

// True when the header makes sense in this byte order. Sizes may still be wrong.
bool plausible(const HeaderBytes& bytes, bool swapped) {
  const int largest = 1 << 24;
  for (const size_t offset : {kNx, kNy, kNz}) {
    const int n = int_at(bytes, offset, swapped);
    if (n < 1 || n > largest) return false;
  }
  for (const size_t offset : {kMapC, kMapR, kMapS}) {
    const int axis = int_at(bytes, offset, swapped);
    if (axis < 0 || axis > 3) return false;
  }
  return known_to_the_format(int_at(bytes, kMode, swapped));
}

bool has_map_stamp(const HeaderBytes& bytes) {
  return std::memcmp(bytes.data() + kMapStamp, "MAP", 3) == 0;
}

// The machine stamp decides; where it is missing or wrong, the order in which the header makes
// sense does.
bool find_byte_order(const HeaderBytes& bytes, const std::string& path) {
  bool stamped_swapped = false;
  if (bytes[kMachineStamp] == 0x11) stamped_swapped = kLittleEndianHost;
  if (bytes[kMachineStamp] == 0x44) stamped_swapped = !kLittleEndianHost;
  if (plausible(bytes, stamped_swapped)) return stamped_swapped;
  if (plausible(bytes, !stamped_swapped)) return !stamped_swapped;
  if (!has_map_stamp(bytes)) refuse(path, "is not an MRC file: its header makes no sense");
  refuse(path, "is a damaged MRC file: its header says " +
                   std::to_string(int_at(bytes, kNx, stamped_swapped)) + " x " +
                   std::to_string(int_at(bytes, kNy, stamped_swapped)) + " x " +
                   std::to_string(int_at(bytes, kNz, stamped_swapped)) + " values of mode " +
                   std::to_string(int_at(bytes, kMode, stamped_swapped)));
}

void check_mode(int mode, const std::string& path) {
  if (find_mode(mode) != nullptr) return;
  std::string kind = "unknown";
  if (mode == 3 || mode == 4) kind = "complex: a transform, not an image";
  if (mode == 16) kind = "colour";
  if (mode == 101) kind = "4 bits per pixel";
  refuse(path, "has MRC mode " + std::to_string(mode) + " (" + kind +
                   "); modes 0, 1, 2, 6 and 12 can be read, so convert it to mode 2");
}

void check_axes(const HeaderBytes& bytes, bool swapped, const std::string& path) {
  const int c = int_at(bytes, kMapC, swapped);
  const int r = int_at(bytes, kMapR, swapped);
  const int s = int_at(bytes, kMapS, swapped);
  // All zero: old writers that never filled them in meant the usual order.
  if ((c == 1 && r == 2 && s == 3) || (c == 0 && r == 0 && s == 0)) return;
  refuse(path, "stores its axes in another order (mapc, mapr, maps = " + std::to_string(c) + ", " +
                   std::to_string(r) + ", " + std::to_string(s) +
                   "); only 1, 2, 3 can be read, so write it again with columns along x, rows "
                   "along y and sections along z");
}

double pixel_size_along(const HeaderBytes& bytes, int axis, bool swapped) {
  const size_t step = 4 * static_cast<size_t>(axis);
  const double cell = get<float>(bytes.data() + kCellA + step, swapped);
  const int intervals = int_at(bytes, kMx + step, swapped);
  if (intervals <= 0 || !std::isfinite(cell) || cell <= 0) return 0.0;
  return cell / intervals;
}

std::string text_at(const HeaderBytes& bytes, size_t offset, size_t length) {
  std::string text(bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                   bytes.begin() + static_cast<std::ptrdiff_t>(offset + length));
  text.resize(std::min(text.size(), text.find('\0')));
  const size_t last = text.find_last_not_of(' ');
  text.resize(last == std::string::npos ? 0 : last + 1);
  return text;
}

std::vector<std::string> read_labels(const HeaderBytes& bytes, bool swapped) {
  const int count = std::clamp(int_at(bytes, kLabelCount, swapped), 0, kMaxLabels);
  std::vector<std::string> labels;
  for (int i = 0; i < count; ++i) {
    labels.push_back(text_at(bytes, kLabels + static_cast<size_t>(i) * kLabelSize, kLabelSize));
  }
  return labels;
}

int volumes_in(const HeaderBytes& bytes, const MrcHeader& header) {
  const int mz = int_at(bytes, kMz, header.swapped);
  if (header.space_group < kVolumeStack || mz <= 0 || header.nz % mz != 0) return 1;
  return header.nz / mz;
}

std::string shape_text(int nx, int ny, int nz) {
  return std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz);
}

std::string shape_text(const MrcHeader& header) {
  return shape_text(header.nx, header.ny, header.nz);
}

// How many values there are; refuses what does not fit the file.
int64_t count_values(const MrcHeader& header, const std::string& path, int64_t file_size) {
  if (header.extended_header_bytes < 0) {
    refuse(path, "is a damaged MRC file: its extended header has " +
                     std::to_string(header.extended_header_bytes) + " bytes");
  }
  // Each side fits 24 bits, so that the product of two cannot overflow; the third is compared by
  // division.
  const int64_t plane = static_cast<int64_t>(header.nx) * header.ny;
  const int64_t room = file_size - static_cast<int64_t>(kHeaderSize) - header.extended_header_bytes;
  const auto value_bytes = static_cast<int64_t>(find_mode(header.mode)->bytes);
  if (room < 0 || room / value_bytes / plane < header.nz) {
    refuse(path, "is cut short: its header promises " + shape_text(header) + " values of " +
                     std::to_string(value_bytes) + " bytes, but the whole file has " +
                     std::to_string(file_size) + " bytes; copy it again");
  }
  return plane * header.nz;
}

MrcHeader decode_header(const HeaderBytes& bytes, const std::string& path) {
  MrcHeader header;
  header.swapped = find_byte_order(bytes, path);
  const bool swapped = header.swapped;
  header.nx = int_at(bytes, kNx, swapped);
  header.ny = int_at(bytes, kNy, swapped);
  header.nz = int_at(bytes, kNz, swapped);
  header.mode = int_at(bytes, kMode, swapped);
  check_mode(header.mode, path);
  check_axes(bytes, swapped, path);
  for (int axis = 0; axis < 3; ++axis) {
    header.pixel_size[static_cast<size_t>(axis)] = pixel_size_along(bytes, axis, swapped);
  }
  header.extended_header_bytes = int_at(bytes, kExtendedBytes, swapped);
  if (header.extended_header_bytes > 0) header.extended_type = text_at(bytes, kExtendedType, 4);
  header.space_group = int_at(bytes, kSpaceGroup, swapped);
  header.volumes = volumes_in(bytes, header);
  header.labels = read_labels(bytes, swapped);
  return header;
}

MrcHeader read_header(Source& source, const std::string& path) {
  HeaderBytes bytes = {};
  const size_t got = source.read(bytes.data(), kHeaderSize);
  if (got >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
    refuse(path, "is compressed with gzip; unpack it first");
  }
  if (got >= 3 && std::memcmp(bytes.data(), "BZh", 3) == 0) {
    refuse(path, "is compressed with bzip2; unpack it first");
  }
  if (got != kHeaderSize) {
    refuse(path, "is not an MRC file: it has " + std::to_string(source.size) +
                     " bytes and a header alone takes 1024");
  }
  MrcHeader header = decode_header(bytes, path);
  count_values(header, path, source.size);
  return header;
}

void skip(Source& source, int64_t bytes, const std::string& path) {
  std::vector<char> block(static_cast<size_t>(std::min<int64_t>(bytes, int64_t{1} << 20)));
  while (bytes > 0) {
    const size_t now = static_cast<size_t>(std::min(bytes, static_cast<int64_t>(block.size())));
    if (source.read(block.data(), now) != now) refuse_unreadable(path);
    bytes -= static_cast<int64_t>(now);
  }
}

std::vector<float> read_values(Source& source, const MrcHeader& header, const std::string& path) {
  const auto count = static_cast<size_t>(count_values(header, path, source.size));
  const Mode& mode = *find_mode(header.mode);
  skip(source, header.extended_header_bytes, path);
  std::vector<float> values(count);
  std::vector<unsigned char> buffer(std::min<size_t>(count, size_t{1} << 18) * mode.bytes);
  for (size_t done = 0; done < count;) {
    const size_t now = std::min(count - done, buffer.size() / mode.bytes);
    if (source.read(buffer.data(), now * mode.bytes) != now * mode.bytes) refuse_unreadable(path);
    mode.convert_values(buffer.data(), now, header.swapped, values.data() + done);
    done += now;
  }
  return values;
}

// Reads what is left of the file.
std::string hash_of(Source& source, const std::string& path) {
  std::vector<char> block(size_t{1} << 20);
  while (source.stream) source.read(block.data(), block.size());
  if (!source.stream.eof() || source.stream.bad()) refuse_unreadable(path);
  return source.hash->hex();
}

MrcFile read_open(Source& source, const std::string& path) {
  MrcFile file;
  file.path = path;
  file.header = read_header(source, path);
  file.values = read_values(source, file.header, path);
  return file;
}

}  // namespace

const char* type_of_mode(int mode) { return find_mode(mode)->type; }

MrcHeader read_mrc_header(const std::string& path) {
  Source source = open_source(path);
  return read_header(source, path);
}

MrcFile read_mrc(const std::string& path) {
  Source source = open_source(path);
  return read_open(source, path);
}

MrcFile read_hashed_mrc(const std::string& path) {
  Source source = open_source(path);
  source.hash = std::make_unique<base::Sha256>();
  MrcFile file = read_open(source, path);
  file.sha256 = hash_of(source, path);
  return file;
}

MrcFile read_mrc_with_hash(const std::string& path, const std::string& sha256) {
  Source source = open_source(path);
  source.hash = std::make_unique<base::Sha256>();
  MrcFile file;
  std::exception_ptr refusal;
  try {
    file = read_open(source, path);
  } catch (const InputError&) {
    refusal = std::current_exception();
  }
  file.sha256 = hash_of(source, path);
  if (file.sha256 != sha256) throw OtherContent("'" + path + "' has another SHA-256");
  if (refusal) std::rethrow_exception(refusal);
  return file;
}

Image to_image(MrcFile&& file) {
  if (file.header.nz != 1) refuse(file.path, "is 3-D (" + shape_text(file.header) + "), not 2-D");
  Image image;
  image.height = file.header.ny;
  image.width = file.header.nx;
  image.pixels = std::move(file.values);
  return image;
}

Volume to_volume(MrcFile&& file) {
  const MrcHeader& header = file.header;
  if (header.nx != header.ny || header.nx != header.nz) {
    refuse(file.path, "is not cubic (" + shape_text(header) + ")");
  }
  Volume volume;
  volume.size = header.nx;
  volume.voxels = std::move(file.values);
  return volume;
}

}  // namespace engine
