#include "db/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/descriptor.h"
#include "base/error.h"

namespace db {
namespace {

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
  try {
    base::AtomicFile file(path, base::Folder::kMustExist);
    std::filesystem::remove(file.temporary());  // what a process that was killed left
    Statement(connection, "VACUUM INTO ?").bind(file.temporary()).run();
    check_copy(file.temporary());
    std::filesystem::permissions(
        file.temporary(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    flush(file.temporary());
    file.commit();
    base::sync_folder_of(path);
  } catch (const std::exception& error) {
    throw DatabaseError("cannot copy the database to '" + path + "': " + error.what());
  }
}

}  // namespace db
