#include "base/mrc_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace base {
namespace {

using namespace mrc_bytes;  // the field offsets

[[noreturn]] void refuse(const std::string& problem) { throw MrcError(problem); }

constexpr bool kLittleEndianHost = std::endian::native == std::endian::little;

int int_at(const HeaderBytes& bytes, size_t offset, bool swapped) {
  return get<int32_t>(bytes.data() + offset, swapped);
}

bool known_to_the_format(int mode) {
  return value_bytes_of_mode(mode) != 0 || mode == 3 || mode == 4 || mode == 16 || mode == 101;
}

// True when the header makes sense in this byte order. Sizes may still be wrong.
bool plausible(const HeaderBytes& bytes, bool swapped) {
  for (const size_t offset : {kNx, kNy, kNz}) {
    const int n = int_at(bytes, offset, swapped);
    if (n < 1 || n > kLongestMrcAxis) return false;
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
bool find_byte_order(const HeaderBytes& bytes) {
  bool stamped_swapped = false;
  if (bytes[kMachineStamp] == 0x11) stamped_swapped = kLittleEndianHost;
  if (bytes[kMachineStamp] == 0x44) stamped_swapped = !kLittleEndianHost;
  if (plausible(bytes, stamped_swapped)) return stamped_swapped;
  if (plausible(bytes, !stamped_swapped)) return !stamped_swapped;
  if (!has_map_stamp(bytes)) refuse("is not an MRC file: its header makes no sense");
  refuse("is a damaged MRC file: its header says " +
         std::to_string(int_at(bytes, kNx, stamped_swapped)) + " x " +
         std::to_string(int_at(bytes, kNy, stamped_swapped)) + " x " +
         std::to_string(int_at(bytes, kNz, stamped_swapped)) + " values of mode " +
         std::to_string(int_at(bytes, kMode, stamped_swapped)));
}

void check_mode(int mode) {
  if (value_bytes_of_mode(mode) != 0) return;
  std::string kind = "unknown";
  if (mode == 3 || mode == 4) kind = "complex: a transform, not an image";
  if (mode == 16) kind = "colour";
  if (mode == 101) kind = "4 bits per pixel";
  refuse("has MRC mode " + std::to_string(mode) + " (" + kind +
         "); modes 0, 1, 2, 6 and 12 can be read, so convert it to mode 2");
}

std::array<int, 3> read_axes(const HeaderBytes& bytes, bool swapped) {
  const int c = int_at(bytes, kMapC, swapped);
  const int r = int_at(bytes, kMapR, swapped);
  const int s = int_at(bytes, kMapS, swapped);
  // All zero: old writers that never filled them in meant the usual order.
  if (c == 0 && r == 0 && s == 0) return {0, 1, 2};
  const auto is_axis = [](int axis) { return axis >= 1 && axis <= 3; };
  const bool each_once = is_axis(c) && is_axis(r) && is_axis(s) && c != r && r != s && c != s;
  if (each_once) return {c - 1, r - 1, s - 1};
  refuse("names its axes " + std::to_string(c) + ", " + std::to_string(r) + ", " +
         std::to_string(s) + " (mapc, mapr, maps), where each of 1, 2 and 3 must be once");
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

// Refuses what does not fit the file.
void check_size(const MrcHeader& header, int64_t file_size) {
  if (header.extended_header_bytes < 0) {
    refuse("is a damaged MRC file: its extended header has " +
           std::to_string(header.extended_header_bytes) + " bytes");
  }
  // Each side fits 24 bits, so that the product of two cannot overflow; the third is compared by
  // division.
  const int64_t plane = static_cast<int64_t>(header.nx) * header.ny;
  const int64_t room = file_size - static_cast<int64_t>(kHeaderSize) - header.extended_header_bytes;
  const int64_t value_bytes = value_bytes_of_mode(header.mode);
  if (room < 0 || room / value_bytes / plane < header.nz) {
    refuse("is cut short: its header promises " + shape_text(header.nx, header.ny, header.nz) +
           " values of " + std::to_string(value_bytes) + " bytes, but the whole file has " +
           std::to_string(file_size) + " bytes; copy it again");
  }
}

MrcHeader decode_header(const HeaderBytes& bytes) {
  MrcHeader header;
  header.swapped = find_byte_order(bytes);
  const bool swapped = header.swapped;
  header.axes = read_axes(bytes, swapped);
  const std::array<int*, 3> along = {&header.nx, &header.ny, &header.nz};
  for (size_t i = 0; i < 3; ++i) {
    *along[static_cast<size_t>(header.axes[i])] = int_at(bytes, kNx + 4 * i, swapped);
  }
  header.mode = int_at(bytes, kMode, swapped);
  check_mode(header.mode);
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

void refuse_other_formats(const HeaderBytes& bytes, size_t got) {
  const auto begins_with = [&](const char* magic, size_t size) {
    return got >= size && std::memcmp(bytes.data(), magic, size) == 0;
  };
  if (begins_with("\x1f\x8b\x08", 3)) refuse("is compressed with gzip; unpack it first");
  if (begins_with("BZh", 3)) refuse("is compressed with bzip2; unpack it first");
  const bool tiff = begins_with("II*\0", 4) || begins_with("MM\0*", 4) || begins_with("II+\0", 4);
  if (tiff) refuse("is a TIFF file, not an MRC file; convert it first");
  if (begins_with("\x89HDF", 4)) refuse("is an HDF5 file, not an MRC file; convert it first");
}

}  // namespace

int value_bytes_of_mode(int mode) {
  switch (mode) {
    case 0:
      return 1;
    case 1:
    case 6:
    case 12:
      return 2;
    case 2:
      return 4;
  }
  return 0;
}

MrcHeader parse_mrc_header(const HeaderBytes& bytes, size_t got, int64_t file_size) {
  refuse_other_formats(bytes, got);
  if (got != kHeaderSize) {
    refuse("is not an MRC file: it has " + std::to_string(file_size) +
           " bytes and a header alone takes 1024");
  }
  MrcHeader header = decode_header(bytes);
  check_size(header, file_size);
  return header;
}

}  // namespace base
