// POSIX access control lists as the kernel stores them in the extended attributes of a file: the
// only form that is needed to add a reader, and a stable part of Linux's interface.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scheduler {

inline constexpr const char* kAccessAcl = "system.posix_acl_access";
// The list that new files and folders in a folder start with.
inline constexpr const char* kDefaultAcl = "system.posix_acl_default";

// The kernel's own numbers, in the order in which it wants the entries.
enum class AclTag : uint16_t {
  kOwner = 0x01,
  kUser = 0x02,
  kOwningGroup = 0x04,
  kGroup = 0x08,
  kMask = 0x10,
  kOthers = 0x20,
};

struct AclEntry {
  AclTag tag{};
  uint16_t rights = 0;         // 4 read, 2 write, 1 execute
  uint32_t id = 0xFFFF'FFFFU;  // for kUser and kGroup
  bool operator==(const AclEntry&) const = default;
};

using Acl = std::vector<AclEntry>;

// Users and groups that may read in addition to those that the list names.
struct FileReaders {
  uid_t user = 0;
  std::optional<gid_t> group{};
};

// The list equivalent to the permission bits alone.
Acl acl_of_mode(mode_t mode);

// The list in which the readers may read and enter. Nobody else gains rights, even where the mask
// had taken rights away.
Acl with_readers(Acl acl, const FileReaders& readers);

// The list without its entries for named users and groups, and so without a mask. Nobody gains
// rights.
Acl without_named(Acl acl);

// The kernel's format: little endian, a version and then 8 bytes for each entry.
std::string to_bytes(const Acl& acl);
// Throws std::invalid_argument for anything that to_bytes() does not write.
Acl parse_acl(std::string_view bytes);

}  // namespace scheduler
