// The one database of one daemon: a SQLite file on a local disk, held by one process at a time.
//
// One connection, shared by the tick and the API's threads under one mutex: every store locks it
// for one statement, a Transaction for its lifetime. The cluster is never called with it locked,
// since the cluster may take minutes to answer.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "db/sqlite.h"

namespace db {

// The name of the network file system whose number is `magic` (statfs' f_type); empty for others.
// SQLite's locks do not hold there.
std::string network_file_system(long magic);

class LockFile;

class Database {
 public:
  // Opens or creates. Throws DatabaseError, one sentence each, when another process holds it (with
  // the holder's pid), when it lies on a network file system, when its schema is newer than this
  // program, or when it is damaged.
  explicit Database(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  // Short and random, made with the database: part of every token.
  const std::string& instance() const { return instance_; }
  int schema_version() const { return schema_version_; }

  // For the stores and for Transaction.
  std::recursive_mutex& mutex() { return mutex_; }
  Connection& connection() { return *connection_; }

 private:
  void open();

  std::string path_;
  std::unique_ptr<LockFile> lock_;
  std::unique_ptr<Connection> connection_;
  std::recursive_mutex mutex_;
  std::string instance_;
  int schema_version_ = 0;
};

// BEGIN IMMEDIATE ... COMMIT; rolled back unless committed. Must not be nested.
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
