// Files as users name them, and as the daemon writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace scheduler {

struct FileFacts {
  std::string path;  // canonical
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
};

// A file as it is now. Throws Invalid when it is not a readable regular file, or when its path is
// not valid UTF-8 (the engine's configuration could not name it).
FileFacts file_facts(const std::string& path);
// The same of an open file, so that the rights of the one who opened it count.
FileFacts file_facts(int descriptor);

// SHA-256 in lower-case hex. Throws Invalid.
std::string hash_file(const std::string& path);
std::string hash_file(int descriptor);
std::string hash_text(const std::string& text);

bool is_utf8(const std::string& text);

// Atomic and durable: temporary name, fsync, rename, fsync of the folder. Throws std::system_error.
void write_file(const std::string& path, const std::string& text, int mode = 0640);
// nullopt when there is none. Throws std::system_error.
std::optional<std::string> read_file(const std::string& path);
// The last `limit` bytes, empty when there is none.
std::string read_end(const std::string& path, int64_t limit);

}  // namespace scheduler
