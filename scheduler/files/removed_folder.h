// Items' folders that are removed, so that a crash leaves each whole or gone: it is first moved
// aside by one rename, into .removed beside it, and deleted there. Links are removed, never
// followed. Each call may be repeated after a crash, and throws std::system_error where the file
// system refuses.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "scheduler/crash_point.h"

namespace scheduler {

inline constexpr const char* kRemovedFolder = ".removed";

// Bytes of all files in the folder, 0 where there is none.
int64_t bytes_in(const std::string& folder);

// `kept`, a folder that was in `folder` when it was named, by its path in `folder`: one folder may
// have two paths, as when a site named it through a link before. Empty: it is in another folder.
std::string path_in(const std::string& folder, const std::string& kept);

// When something in the folder, or the folder itself, last changed: seconds since the epoch.
int64_t newest_change(const std::string& folder);

// Removes <jobs>/<name>, where the name may be that of a folder in another. Returns the bytes that
// were freed.
int64_t remove_folder(const std::string& jobs, const std::string& name, const CrashHook& crash);

// Removes all of <jobs>/<name> but the files of `kept`, a folder in it, that `stays` is true of.
// Returns the bytes that were freed.
int64_t remove_all_but(const std::string& jobs, const std::string& name, const std::string& kept,
                       const std::function<bool(const std::string& file)>& stays,
                       const CrashHook& crash);

// What was moved aside by removals that nobody remembers. Returns the bytes that were freed.
int64_t remove_aside(const std::string& jobs);

// What remove_all_but() would return.
int64_t bytes_besides(const std::string& folder, const std::string& kept,
                      const std::function<bool(const std::string& file)>& stays);

}  // namespace scheduler
