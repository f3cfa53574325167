#include "db/backup.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/size_text.h"

namespace db {
namespace {

int64_t number_of(Connection& connection, const char* pragma) {
  Statement query(connection, pragma);
  return query.step() ? query.integer(0) : 0;
}

// Of the copy, at most, with what the file system adds.
int64_t bytes_of_copy(Connection& connection) {
  constexpr int64_t kMargin = int64_t{1} << 20;
  const int64_t pages =
      number_of(connection, "PRAGMA page_count") - number_of(connection, "PRAGMA freelist_count");
  return pages * number_of(connection, "PRAGMA page_size") + kMargin;
}

void check_room(Connection& connection, const std::string& path) {
  const std::string folder = base::folder_of(path);
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return;  // opening the copy says what is wrong
  const auto free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  const int64_t needed = bytes_of_copy(connection);
  if (free >= needed) return;
  throw NoRoomForCopy("cannot copy the database to '" + path + "': the copy takes up to " +
                      base::size_text(needed) + " and " + base::size_text(free) +
                      " are free; free another " + base::size_text(needed - free) +
                      " on the disk of '" + folder + "'");
}

// SQLite writes into an empty file that is there. Made here, so that nobody else can read it, and
// no link of another user's in a shared folder is followed.
void make_empty(const std::string& path) {
  std::filesystem::remove(path);  // what a process that was killed left
  const base::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) throw base::FileError(errno, "cannot make the file");
}

void check_copy(const std::string& path) {
  Connection copy(path);
  Statement check(copy, "PRAGMA integrity_check(1)");
  if (check.step() && check.text(0) == "ok") return;
  throw DatabaseError("the copy is damaged (" + check.text(0) + ")");
}

// The copy's own pages were written by SQLite, which does not flush them.
void flush(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) throw base::FileError(errno, "cannot flush the copy");
}

}  // namespace

void copy_database(Connection& connection, const std::string& path) {
  check_room(connection, path);
  try {
    base::AtomicFile file(path, base::Folder::kMustExist);
    make_empty(file.temporary());
    Statement(connection, "VACUUM INTO ?").bind(file.temporary()).run();
    check_copy(file.temporary());
    flush(file.temporary());
    file.commit();
    base::sync_folder_of(path);
  } catch (const std::exception& error) {
    throw DatabaseError("cannot copy the database to '" + path + "': " + error.what());
  }
}

}  // namespace db
