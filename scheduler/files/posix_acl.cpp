#include "scheduler/files/posix_acl.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace scheduler {
namespace {

constexpr uint32_t kVersion = 2;
constexpr size_t kEntryBytes = 8;
constexpr uint16_t kReadAndEnter = 5;

void append(std::string& bytes, uint32_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
}

uint32_t number_at(std::string_view bytes, size_t place, size_t size) {
  uint32_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[place + i])) << (8 * i);
  }
  return value;
}

bool is_known(uint32_t tag) {
  for (const AclTag known : {AclTag::kOwner, AclTag::kUser, AclTag::kOwningGroup, AclTag::kGroup,
                             AclTag::kMask, AclTag::kOthers}) {
    if (tag == static_cast<uint32_t>(known)) return true;
  }
  return false;
}

bool is_masked(const AclEntry& entry) {
  return entry.tag == AclTag::kUser || entry.tag == AclTag::kOwningGroup ||
         entry.tag == AclTag::kGroup;
}

// Leaves a list without a mask that says the same.
void apply_mask(Acl& acl) {
  const auto mask = std::find_if(acl.begin(), acl.end(),
                                 [](const AclEntry& entry) { return entry.tag == AclTag::kMask; });
  if (mask == acl.end()) return;
  const uint16_t let = mask->rights;
  acl.erase(mask);
  for (AclEntry& entry : acl) {
    if (is_masked(entry)) entry.rights &= let;
  }
}

void add_reader(Acl& acl, AclTag tag, uint32_t id) {
  const auto found = std::find_if(acl.begin(), acl.end(), [&](const AclEntry& entry) {
    return entry.tag == tag && entry.id == id;
  });
  if (found == acl.end()) {
    acl.push_back({.tag = tag, .rights = kReadAndEnter, .id = id});
  } else {
    found->rights |= kReadAndEnter;
  }
}

}  // namespace

Acl acl_of_mode(mode_t mode) {
  return {{.tag = AclTag::kOwner, .rights = static_cast<uint16_t>(mode >> 6 & 7U)},
          {.tag = AclTag::kOwningGroup, .rights = static_cast<uint16_t>(mode >> 3 & 7U)},
          {.tag = AclTag::kOthers, .rights = static_cast<uint16_t>(mode & 7U)}};
}

Acl without_named(Acl acl) {
  apply_mask(acl);
  std::erase_if(acl, [](const AclEntry& entry) {
    return entry.tag == AclTag::kUser || entry.tag == AclTag::kGroup;
  });
  return acl;
}

Acl with_readers(Acl acl, const FileReaders& readers) {
  // A wider mask must not give back what the narrower one took.
  apply_mask(acl);
  add_reader(acl, AclTag::kUser, readers.user);
  if (readers.group) add_reader(acl, AclTag::kGroup, *readers.group);
  AclEntry all{.tag = AclTag::kMask};
  for (const AclEntry& entry : acl) {
    if (is_masked(entry)) all.rights |= entry.rights;
  }
  acl.push_back(all);
  std::sort(acl.begin(), acl.end(), [](const AclEntry& a, const AclEntry& b) {
    return std::tie(a.tag, a.id) < std::tie(b.tag, b.id);
  });
  return acl;
}

std::string to_bytes(const Acl& acl) {
  std::string bytes;
  append(bytes, kVersion, 4);
  for (const AclEntry& entry : acl) {
    append(bytes, static_cast<uint32_t>(entry.tag), 2);
    append(bytes, entry.rights, 2);
    append(bytes, entry.id, 4);
  }
  return bytes;
}

Acl parse_acl(std::string_view bytes) {
  const bool whole = bytes.size() >= 4 && (bytes.size() - 4) % kEntryBytes == 0;
  if (!whole || number_at(bytes, 0, 4) != kVersion) {
    throw std::invalid_argument("not an access control list of version 2");
  }
  Acl acl;
  for (size_t place = 4; place < bytes.size(); place += kEntryBytes) {
    const uint32_t tag = number_at(bytes, place, 2);
    if (!is_known(tag)) {
      throw std::invalid_argument("an access control list with an unknown entry " +
                                  std::to_string(tag));
    }
    acl.push_back({.tag = static_cast<AclTag>(tag),
                   .rights = static_cast<uint16_t>(number_at(bytes, place + 2, 2)),
                   .id = number_at(bytes, place + 4, 4)});
  }
  return acl;
}

}  // namespace scheduler
