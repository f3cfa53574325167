#include "db/database.h"

#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <random>
#include <utility>

#include "db/backup.h"
#include "db/disk_reserve.h"
#include "db/lock_file.h"
#include "db/schema.h"

namespace db {
namespace {

// WAL and flock need shared memory and locks that these do not give between machines. FUSE and 9P
// are not among them: containers put local disks behind both.
struct FileSystem {
  long magic;
  const char* name;
};
constexpr FileSystem kNetworkFileSystems[] = {
    {0x6969, "NFS"},        {0xFF534D42, "CIFS"}, {0xFE534D42, "SMB2"},     {0x517B, "SMB"},
    {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"},   {0x00C36400, "Ceph"},
    {0x5346414F, "AFS"},    {0x73757245, "Coda"}, {0x7461636F, "OCFS2"},    {0x01161970, "GFS2"},
    {0xAAD7AAEA, "PanFS"},  {0x6B414653, "kAFS"}, {0x20030528, "OrangeFS"},
};

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void refuse_network_file_system(const std::string& path) {
  struct statfs facts {};
  const std::string folder = folder_of(path);
  if (statfs(folder.c_str(), &facts) != 0) {
    throw DatabaseError("folder '" + folder + "' of the database: " + std::strerror(errno));
  }
  // f_type is signed where the magic numbers are unsigned 32 bits.
  const std::string name = network_file_system(static_cast<long>(facts.f_type) & 0xFFFFFFFFL);
  if (name.empty()) return;
  throw DatabaseRefused("database '" + path + "' lies on a network file system (" + name +
                        "): choose a state folder on a local disk");
}

bool disk_is_full(const std::string& path) {
  constexpr int64_t kFull = 256 << 10;
  struct statvfs disk {};
  if (statvfs(folder_of(path).c_str(), &disk) != 0) return false;
  return static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize) < kFull;
}

// Without those that are read for one another.
constexpr char kLetters[] = "abcdefghijkmnpqrstuvwxyz23456789";

std::string random_instance() {
  std::random_device source;
  std::uniform_int_distribution<size_t> pick(0, sizeof(kLetters) - 2);
  std::string id;
  for (int i = 0; i < 6; ++i) id += kLetters[pick(source)];
  return id;
}

std::string read_or_make_instance(Connection& connection) {
  {
    Statement query(connection, "SELECT id FROM instance");
    if (query.step()) return query.text(0);
  }
  const std::string id = random_instance();
  Statement(connection, "INSERT INTO instance (id, created) VALUES (?, ?)")
      .bind(id)
      .bind(static_cast<int64_t>(std::time(nullptr)))
      .run();
  return id;
}

// An administrator may correct a row by hand.
int64_t changes_by_others(Connection& connection) {
  Statement query(connection, "PRAGMA data_version");
  query.step();
  return query.integer(0);
}

void check_integrity(Connection& connection) {
  Statement check(connection, "PRAGMA quick_check(1)");
  if (check.step() && check.text(0) == "ok") return;
  throw DatabaseError("database '" + connection.path() + "' is damaged (" + check.text(0) +
                      "): restore it from a backup with 'margay admin restore'");
}

// An older margayd cannot read what an upgrade makes of the database.
void keep_old_schema(Connection& connection) {
  const int64_t version = stored_version(connection);
  if (version == 0 || version >= newest_schema()) return;
  try {
    copy_database(connection, connection.path() + ".schema" + std::to_string(version));
  } catch (const NoRoomForCopy& error) {
    throw NoRoomForCopy(
        "a copy of the database is kept before its schema is upgraded from version " +
        std::to_string(version) + " to " + std::to_string(newest_schema()) + ": " + error.what() +
        ", and start margayd again; nothing has changed");
  }
}

}  // namespace

std::string network_file_system(long magic) {
  for (const FileSystem& system : kNetworkFileSystems) {
    if (system.magic == magic) return system.name;
  }
  return "";
}

Database::Database(const std::string& path) : path_(path) {
  refuse_network_file_system(path);
  lock_ = std::make_unique<LockFile>(path + ".lock");
  release_reserve(path + ".reserve");
  try {
    open();
  } catch (const DatabaseRefused&) {
    throw;
  } catch (const NoRoomForCopy&) {
    throw;
  } catch (const DatabaseError& error) {
    if (!disk_is_full(path)) throw;
    throw DatabaseError(error.what() + (": the disk of '" + folder_of(path)) +
                        "' is full; make room there and start again");
  }
  keep_reserve(path + ".reserve");
}

void Database::open() {
  connection_ = std::make_unique<Connection>(path_);
  connection_->execute("PRAGMA journal_mode = WAL");
  connection_->execute("PRAGMA synchronous = FULL");
  connection_->execute("PRAGMA foreign_keys = ON");
  check_integrity(*connection_);
  keep_old_schema(*connection_);
  schema_version_ = upgrade_schema(*connection_);
  instance_ = read_or_make_instance(*connection_);
  connection_->on_change([this](std::string_view table, int64_t row) { note_change(table, row); });
}

// Called with the mutex locked, as all that changes rows is.
void Database::note_change(std::string_view table, int64_t row) {
  constexpr size_t kMost = 100'000;
  if (table != "items" || changed_items_.all) return;
  if (changed_items_.ids.size() < kMost) {
    changed_items_.ids.push_back(row);
  } else {
    changed_items_ = {};
  }
}

ChangedItems Database::take_changed_items() {
  const std::scoped_lock lock(mutex_);
  const int64_t others_changes = changes_by_others(*connection_);
  if (others_changes != others_changes_) changed_items_ = {};
  others_changes_ = others_changes;
  return std::exchange(changed_items_, ChangedItems{.all = false});
}

Database::~Database() = default;

Transaction::Transaction(Database& database) : database_(database), lock_(database.mutex()) {
  database_.connection().execute("BEGIN IMMEDIATE");
  open_ = true;
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.connection().execute("ROLLBACK");
  } catch (const DatabaseError&) {
    // SQLite has rolled back by itself when the disk is full or damaged; the first error is the
    // one being thrown.
  }
}

void Transaction::commit() {
  assert(open_);
  database_.connection().execute("COMMIT");
  open_ = false;
}

}  // namespace db
