// Removes items' folders so that after a crash each is either complete or gone: a folder is first
// moved aside by one rename, into .removed beside it, and deleted there. Links are removed, never
// followed. Each call may be repeated after a crash, and throws std::system_error where the file
// system refuses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "scheduler/crash_point.h"

namespace scheduler {

inline constexpr const char* kRemovedFolder = ".removed";

// Bytes of all files in the folder; 0: there is no such folder.
int64_t bytes_in(const std::string& folder);

// The path within `folder` of `kept`, which may be named by another path, as when a site used to
// name the folder through a link. Empty: `kept` is in another folder.
std::string path_in(const std::string& folder, const std::string& kept);

// When something in the folder, or the folder itself, last changed: seconds since the epoch.
int64_t newest_change(const std::string& folder);

// Removes <jobs>/<name>, where `name` may also be a folder within another ("12/a3"). Returns the
// bytes that were freed.
int64_t remove_folder(const std::string& jobs, const std::string& name, const CrashHook& crash);

// Removes all of <jobs>/<name> except the files of `kept`, a folder in it, for which `stays`
// returns true. Returns the bytes that were freed.
int64_t remove_all_but(const std::string& jobs, const std::string& name, const std::string& kept,
                       const std::function<bool(const std::string& file)>& stays,
                       const CrashHook& crash);

// Removes what earlier removals moved aside and did not delete. Returns the bytes that were freed.
int64_t remove_aside(const std::string& jobs);

// The bytes that remove_all_but() would free.
int64_t bytes_besides(const std::string& folder, const std::string& kept,
                      const std::function<bool(const std::string& file)>& stays);

}  // namespace scheduler
