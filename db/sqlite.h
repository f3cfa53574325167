// SQLite behind two small classes, so that its own headers (and SQLiteCpp's) are in sqlite.cpp
// only. Not thread-safe: Database::mutex() guards them. All throw DatabaseError.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace db {

// The database cannot do its job: refused at opening, damaged, disk full. The message names the
// file.
class DatabaseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file could not be read or written: the database's own, or one that the statement names.
class StorageError : public DatabaseError {
 public:
  StorageError(const std::string& message, std::string reason)
      : DatabaseError(message), reason_(std::move(reason)) {}
  // SQLite's own words alone, without the database's name.
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

// One row holds a word that this program does not know; the others can be read.
class UnreadableRow : public DatabaseError {
 public:
  using DatabaseError::DatabaseError;
};

// Another process holds the database.
class DatabaseHeld : public DatabaseError {
 public:
  using DatabaseError::DatabaseError;
};

// The place or the schema is unfit for this program, so that a restart does not help.
class DatabaseRefused : public DatabaseError {
 public:
  using DatabaseError::DatabaseError;
};

enum class Access {
  kMake,      // the file is made where it is missing
  kReadOnly,  // the file must exist and is not changed
};

class Connection {
 public:
  explicit Connection(const std::string& path, Access access = Access::kMake);
  ~Connection();

  void execute(const std::string& sql);
  // `changed` is called for each row that this connection inserts, changes or removes, even if that
  // is rolled back later. It must not use the connection.
  using OnChange = std::function<void(std::string_view table, int64_t row)>;
  void on_change(OnChange changed);
  int64_t last_insert_id() const;
  int64_t changes() const;
  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  std::string path_;
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

// Bind values in the order of the question marks, then call run(), or step() until it returns
// false. Columns count from 0.
class Statement {
 public:
  Statement(Connection& connection, const std::string& sql);
  ~Statement();

  Statement& bind(int64_t value);
  Statement& bind(int value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(bool value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(double value);
  Statement& bind(const std::string& value);
  Statement& bind(const char* value) { return bind(std::string(value)); }
  Statement& bind(const std::optional<int>& value);

  bool step();
  void run();

  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

  // The column as a field's value; a null is an empty optional.
  void read(int column, int64_t& value) const { value = integer(column); }
  void read(int column, int& value) const { value = static_cast<int>(integer(column)); }
  void read(int column, bool& value) const { value = integer(column) != 0; }
  void read(int column, double& value) const { value = real(column); }
  void read(int column, std::string& value) const { value = text(column); }
  void read(int column, std::optional<int>& value) const;

 private:
  Connection& connection_;
  struct Handle;
  std::unique_ptr<Handle> handle_;
  int bound_ = 0;
};

}  // namespace db
