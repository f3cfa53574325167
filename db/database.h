// The one database of a daemon: a SQLite file on a local disk, held by one process at a time.
//
// One connection, shared by the tick and the API's threads under one mutex: every store locks it
// for one statement, a Transaction for its lifetime. The cluster is never called with it locked,
// since the cluster may take minutes to answer.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "db/sqlite.h"

namespace db {

// The name of the network file system whose number is `magic` (statfs' f_type); empty for others.
// SQLite's locks do not hold there.
std::string network_file_system(long magic);

class LockFile;

struct ChangedItems {
  bool all = true;  // any item may have changed; `ids` is empty
  std::vector<int64_t> ids{};
};

class Database {
 public:
  // Opens the database or creates it. Before an older schema is upgraded, a copy of the database is
  // kept beside it, as <path>.schema<its version>. Throws DatabaseError when another process holds
  // it (the message has the holder's pid), when it lies on a network file system, when its schema
  // is newer than this program, or when it is damaged.
  explicit Database(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  // A short random word, made with the database: part of every token.
  const std::string& instance() const { return instance_; }
  int schema_version() const { return schema_version_; }

  // The items of which a row was inserted, changed or removed since the last call. An id may appear
  // twice, and a change may have been rolled back. A reader that keeps items in memory need not
  // read the other items again; only one such reader may exist. Locks the database.
  ChangedItems take_changed_items();

  // For the stores and for Transaction.
  std::recursive_mutex& mutex() { return mutex_; }
  Connection& connection() { return *connection_; }

 private:
  void open();
  void note_change(std::string_view table, int64_t row);

  std::string path_;
  std::unique_ptr<LockFile> lock_;
  std::unique_ptr<Connection> connection_;
  std::recursive_mutex mutex_;
  std::string instance_;
  int schema_version_ = 0;
  ChangedItems changed_items_;
  int64_t others_changes_ = 0;  // as SQLite counts the commits of other connections
};

// BEGIN IMMEDIATE ... COMMIT; the destructor rolls back what was not committed. Must not be nested.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  std::unique_lock<std::recursive_mutex> lock_;
  bool open_ = false;
};

}  // namespace db
