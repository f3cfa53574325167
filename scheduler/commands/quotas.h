// Checks what one user may put into the database. The sentences name the limit and its key in the
// daemon's configuration.
#pragma once

#include <cstdint>
#include <string>

#include "db/items.h"
#include "scheduler/config/limits.h"
#include "scheduler/files/file_io.h"

namespace scheduler {

// All throw Invalid for a text that is too long and NotPermitted for a quota that is used up.
void check_file(const Limits& limits, const FileFacts& file);
void check_path(const Limits& limits, const std::string& path);
void check_label(const Limits& limits, const std::string& label);
void check_settings(const Limits& limits, const std::string& settings);
// `used` counts the user's unfinished items and their labels, the label of the new items included.
void check_items(const Limits& limits, const db::Unfinished& used, int64_t added);
void check_templates(const Limits& limits, int64_t registered);

}  // namespace scheduler
