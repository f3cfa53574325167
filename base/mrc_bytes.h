// Offsets of the fields of an MRC2014 header, and conversion of numbers from and to its bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace base::mrc_bytes {

inline constexpr size_t kHeaderSize = 1024;
using HeaderBytes = std::array<unsigned char, kHeaderSize>;

// Byte offsets.
enum Field : size_t {
  kNx = 0,
  kNy = 4,
  kNz = 8,
  kMode = 12,
  kMx = 28,
  kMy = 32,
  kMz = 36,
  kCellA = 40,
  kCellB = 52,
  kMapC = 64,
  kMapR = 68,
  kMapS = 72,
  kDmin = 76,
  kDmax = 80,
  kDmean = 84,
  kSpaceGroup = 88,
  kExtendedBytes = 92,
  kExtendedType = 104,
  kVersion = 108,
  kMapStamp = 208,
  kMachineStamp = 212,
  kRms = 216,
  kLabelCount = 220,
  kLabels = 224,
};
inline constexpr size_t kLabelSize = 80;
inline constexpr int kMaxLabels = 10;
// The first space group that means a stack of volumes.
inline constexpr int kVolumeStack = 401;

// Reads a number at `bytes`; `swapped` reverses its bytes.
template <typename T>
T get(const unsigned char* bytes, bool swapped) {
  std::array<unsigned char, sizeof(T)> raw;
  std::copy_n(bytes, sizeof(T), raw.begin());
  if (swapped) std::reverse(raw.begin(), raw.end());
  T value;
  std::memcpy(&value, raw.data(), sizeof(T));
  return value;
}

// Writes a number in this machine's byte order.
template <typename T>
void put(HeaderBytes& header, size_t offset, T value) {
  std::memcpy(header.data() + offset, &value, sizeof(T));
}

}  // namespace base::mrc_bytes
