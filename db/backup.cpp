#include "db/backup.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>

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

// What a file system adds to a file.
constexpr int64_t kMargin = int64_t{1} << 20;

// Of the copy, at most.
int64_t bytes_of_copy(Connection& connection) {
  const int64_t pages =
      number_of(connection, "PRAGMA page_count") - number_of(connection, "PRAGMA freelist_count");
  return pages * number_of(connection, "PRAGMA page_size") + kMargin;
}

// nullopt: the folder cannot be looked at.
std::optional<int64_t> free_bytes(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return std::nullopt;
  return static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
}

void check_room(Connection& connection, const std::string& path) {
  const std::string folder = base::folder_of(path);
  const std::optional<int64_t> known = free_bytes(folder);
  if (!known) return;  // opening the copy says what is wrong
  const int64_t free = *known;
  const int64_t needed = bytes_of_copy(connection);
  if (free >= needed) return;
  throw NoRoomForCopy("cannot copy the database to '" + path + "': the copy takes up to " +
                      base::size_text(needed) + " and " + base::size_text(free) +
                      " are free; free another " + base::size_text(needed - free) +
                      " on the disk of '" + folder + "'");
}

// SQLite reports a full disk as no more than an I/O error of the database that it copies.
void write_copy(Connection& connection, const std::string& temporary) {
  try {
    Statement(connection, "VACUUM INTO ?").bind(temporary).run();
  } catch (const StorageError& error) {
    std::filesystem::remove(temporary + "-journal");
    const std::string folder = base::folder_of(temporary);
    const std::optional<int64_t> free = free_bytes(folder);
    std::string message = error.reason() + " while '" + temporary + "' was written";
    if (free)
      message += "; " + base::size_text(*free) + " are free on the disk of '" + folder + "'";
    if (free && *free < kMargin) message += ": free more, or name a file on another disk";
    throw DatabaseError(message);
  }
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
    file.create(0600);  // SQLite writes into an empty file, which nobody else can read
    write_copy(connection, file.temporary());
    check_copy(file.temporary());
    flush(file.temporary());
    file.commit();
    base::sync_folder_of(path);
  } catch (const std::exception& error) {
    throw DatabaseError("cannot copy the database to '" + path + "': " + error.what());
  }
}

void back_up(const std::string& database, const std::string& path) {
  if (!std::filesystem::exists(database)) {
    throw DatabaseRefused("there is no database '" + database + "'");
  }
  if (std::filesystem::exists(path)) {
    throw DatabaseRefused("'" + path + "' exists; name another file, or remove it");
  }
  Connection connection(database);
  copy_database(connection, path);
}

}  // namespace db
