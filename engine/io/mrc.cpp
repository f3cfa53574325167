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

#include "base/mrc_bytes.h"
#include "base/mrc_header.h"
#include "base/sha256.h"
#include "engine/error.h"
#include "engine/io/compressed.h"

namespace engine {
namespace {

using base::mrc_bytes::get;

constexpr int64_t kLargestUnpacked = int64_t{1} << 36;  // bytes: a cube of 2580 pixels
// A packed byte of measured values unpacks to fewer bytes, one of a mask or of zeros to more.
constexpr uint64_t kUsuallyUnpackedFromByte = 20;

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw InputError("'" + path + "' " + problem);
}

[[noreturn]] void refuse_unreadable(const std::string& path) {
  refuse(path, "could not be read to its end; it may be changing, or the disk may be failing");
}

// A file open for reading.
struct Source {
  std::ifstream stream;
  int64_t stored = 0;  // its size in bytes
  // Of what was read, in its order: what is hashed is what is decoded, whoever writes meanwhile.
  std::unique_ptr<base::Sha256> hash{};
  std::unique_ptr<Decompressor> decompressor{};  // null: the file is not compressed

  // The number of bytes that there were, decompressed.
  size_t read(void* bytes, size_t count) {
    return decompressor ? decompressor->read(bytes, count) : read_raw(bytes, count);
  }
  size_t read_raw(void* bytes, size_t count) {
    stream.read(static_cast<char*>(bytes), static_cast<std::streamsize>(count));
    const auto got = static_cast<size_t>(stream.gcount());
    if (hash) hash->add(bytes, got);
    return got;
  }
};

// The source that decompresses refers to itself: it stays where it is.
std::unique_ptr<Source> open_source(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    refuse(path, errno == ENOENT || errno == ENOTDIR
                     ? std::string("does not exist")
                     : std::string("cannot be opened: ") + std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) refuse(path, "is a folder, not an MRC file");
  if (!S_ISREG(status.st_mode)) refuse(path, "is not a regular file");
  auto source = std::make_unique<Source>();
  errno = 0;
  source->stream.open(path, std::ios::binary);
  if (!source->stream) refuse(path, std::string("cannot be opened: ") + std::strerror(errno));
  source->stored = static_cast<int64_t>(status.st_size);
  return source;
}

// Looks whether the file is compressed, and goes back to its begin.
void find_compression(Source& source, const std::string& path) {
  std::string begin(3, '\0');
  source.stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  source.stream.clear();
  source.stream.seekg(0);
  try {
    source.decompressor = make_decompressor(
        compression_of(begin),
        [&source](void* bytes, size_t count) { return source.read_raw(bytes, count); });
  } catch (const DamagedCompression& error) {
    refuse(path, error.what());
  }
}

// What the file's bytes are, or why there were no more of them.
[[noreturn]] void refuse_damaged(const Source& source, const std::string& path,
                                 const DamagedCompression& error) {
  if (source.stream.bad()) refuse_unreadable(path);
  refuse(path, error.what());
}

[[noreturn]] void refuse_short(const Source& source, const std::string& path) {
  if (!source.decompressor) refuse_unreadable(path);
  refuse(path, "is cut short: it unpacks to less than its header promises; copy it again");
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

// A new mode is added here and in base/mrc_header.cpp.
struct Mode {
  int number;
  const char* type;
  decltype(&convert<float>) convert_values;
};
constexpr std::array<Mode, 5> kModes = {{{0, "int8", convert<int8_t>},
                                         {1, "int16", convert<int16_t>},
                                         {2, "float32", convert<float>},
                                         {6, "uint16", convert<uint16_t>},
                                         {12, "float16", convert<Half>}}};

// Null for a mode that cannot be read.
const Mode* find_mode(int number) {
  const auto found = std::find_if(kModes.begin(), kModes.end(),
                                  [&](const Mode& mode) { return mode.number == number; });
  return found == kModes.end() ? nullptr : &*found;
}

std::string shape_text(const MrcHeader& header) {
  return std::to_string(header.nx) + " x " + std::to_string(header.ny) + " x " +
         std::to_string(header.nz);
}

void check_unpacked_size(const MrcHeader& header, const std::string& path) {
  // Two sides have 24 bits each.
  const int64_t plane = static_cast<int64_t>(header.nx) * header.ny;
  const int64_t value_bytes = base::value_bytes_of_mode(header.mode);
  if (kLargestUnpacked / value_bytes / plane >= header.nz) return;
  refuse(path, "is packed, and its header promises " + shape_text(header) + " values of " +
                   std::to_string(value_bytes) +
                   " bytes: more than 64 GiB are not unpacked; copy it again if it cannot be so "
                   "large, or else unpack it first");
}

MrcHeader read_header(Source& source, const std::string& path) {
  base::mrc_bytes::HeaderBytes bytes = {};
  const size_t got = source.read(bytes.data(), bytes.size());
  int64_t size = source.stored;
  // What a whole compressed file unpacks to is not known.
  if (source.decompressor) {
    size = got == bytes.size() ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(got);
  }
  try {
    MrcHeader header = base::parse_mrc_header(bytes, got, size);
    if (source.decompressor) check_unpacked_size(header, path);
    return header;
  } catch (const base::MrcError& error) {
    refuse(path, error.what());
  }
}

void skip(Source& source, int64_t bytes, const std::string& path) {
  std::vector<char> block(static_cast<size_t>(std::min<int64_t>(bytes, int64_t{1} << 20)));
  while (bytes > 0) {
    const size_t now = static_cast<size_t>(std::min(bytes, static_cast<int64_t>(block.size())));
    if (source.read(block.data(), now) != now) refuse_short(source, path);
    bytes -= static_cast<int64_t>(now);
  }
}

std::vector<float> read_values(Source& source, const MrcHeader& header, const std::string& path) {
  const auto count = static_cast<size_t>(header.nx) * static_cast<size_t>(header.ny) *
                     static_cast<size_t>(header.nz);
  const auto value_bytes = static_cast<size_t>(base::value_bytes_of_mode(header.mode));
  const Mode& mode = *find_mode(header.mode);
  skip(source, header.extended_header_bytes, path);
  std::vector<float> values;
  if (source.decompressor) {
    // It may promise more than there is: memory is taken for what is likely, and beyond that for
    // what was read.
    const uint64_t likely = static_cast<uint64_t>(source.stored) * kUsuallyUnpackedFromByte;
    values.reserve(std::min<uint64_t>(count, likely / value_bytes));
  } else {
    values.resize(count);
  }
  std::vector<unsigned char> buffer(std::min<size_t>(count, size_t{1} << 18) * value_bytes);
  for (size_t done = 0; done < count;) {
    const size_t now = std::min(count - done, buffer.size() / value_bytes);
    if (source.read(buffer.data(), now * value_bytes) != now * value_bytes) {
      refuse_short(source, path);
    }
    if (source.decompressor) values.resize(done + now);
    mode.convert_values(buffer.data(), now, header.swapped, values.data() + done);
    done += now;
  }
  if (source.decompressor && source.read(buffer.data(), 1) != 0) {
    refuse(path,
           "unpacks to more than its header promises: it is damaged, or more than one MRC file; "
           "copy it again, or unpack it and pack one MRC file");
  }
  return values;
}

// Reads what is left of the file.
std::string hash_of(Source& source, const std::string& path) {
  std::vector<char> block(size_t{1} << 20);
  while (source.stream) source.read_raw(block.data(), block.size());
  if (!source.stream.eof() || source.stream.bad()) refuse_unreadable(path);
  return source.hash->hex();
}

// From the order of the file's columns, rows and sections to [z][y][x].
std::vector<float> in_order(std::vector<float>&& values, const MrcHeader& header) {
  const auto& axes = header.axes;
  if (axes == std::array<int, 3>{0, 1, 2}) return std::move(values);
  const std::array<size_t, 3> sides = {static_cast<size_t>(header.nx),
                                       static_cast<size_t>(header.ny),
                                       static_cast<size_t>(header.nz)};
  const std::array<size_t, 3> steps = {1, sides[0], sides[0] * sides[1]};
  const auto [columns, rows, sections] = std::array{
      static_cast<size_t>(axes[0]), static_cast<size_t>(axes[1]), static_cast<size_t>(axes[2])};
  std::vector<float> ordered(values.size());
  const float* next = values.data();
  for (size_t s = 0; s < sides[sections]; ++s) {
    for (size_t r = 0; r < sides[rows]; ++r) {
      float* row = ordered.data() + s * steps[sections] + r * steps[rows];
      for (size_t c = 0; c < sides[columns]; ++c) row[c * steps[columns]] = *next++;
    }
  }
  return ordered;
}

MrcFile read_open(Source& source, const std::string& path) {
  MrcFile file;
  file.path = path;
  find_compression(source, path);
  try {
    file.header = read_header(source, path);
    file.values = in_order(read_values(source, file.header, path), file.header);
  } catch (const DamagedCompression& error) {
    refuse_damaged(source, path, error);
  }
  return file;
}

}  // namespace

const char* type_of_mode(int mode) { return find_mode(mode)->type; }

MrcHeader read_mrc_header(const std::string& path) {
  const auto source = open_source(path);
  find_compression(*source, path);
  try {
    return read_header(*source, path);
  } catch (const DamagedCompression& error) {
    refuse_damaged(*source, path, error);
  }
}

MrcFile read_mrc(const std::string& path) {
  const auto source = open_source(path);
  return read_open(*source, path);
}

MrcFile read_hashed_mrc(const std::string& path) {
  const auto source = open_source(path);
  source->hash = std::make_unique<base::Sha256>();
  MrcFile file = read_open(*source, path);
  file.sha256 = hash_of(*source, path);
  return file;
}

MrcFile read_mrc_with_hash(const std::string& path, const std::string& sha256) {
  const auto source = open_source(path);
  source->hash = std::make_unique<base::Sha256>();
  MrcFile file;
  std::exception_ptr refusal;
  try {
    file = read_open(*source, path);
  } catch (const InputError&) {
    refusal = std::current_exception();
  }
  file.sha256 = hash_of(*source, path);
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
