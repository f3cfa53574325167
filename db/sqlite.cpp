#include "db/sqlite.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

#include <unordered_map>
#include <utility>

namespace db {
namespace {

constexpr int kBusyTimeoutMs = 5000;

[[noreturn]] void fail(const std::string& path, const SQLite::Exception& error) {
  std::string message = "database '" + path + "': " + error.what();
  const bool full = error.getErrorCode() == SQLITE_FULL;
  if (full || error.getExtendedErrorCode() == SQLITE_IOERR_WRITE) {
    message += "; free space on its disk, nothing is lost";
  }
  if (full || error.getErrorCode() == SQLITE_IOERR) throw StorageError(message, error.what());
  if (error.getErrorCode() == SQLITE_CORRUPT || error.getErrorCode() == SQLITE_NOTADB) {
    message += "; restore it from a backup with 'margay admin restore'";
  }
  throw DatabaseError(message);
}

// One place turns SQLiteCpp's exceptions into ours.
template <typename Action>
auto guarded(const std::string& path, Action action) {
  try {
    return action();
  } catch (const SQLite::Exception& error) {
    fail(path, error);
  }
}

}  // namespace

// Half of what a short statement costs is its preparation, so that prepared ones are kept.
struct Connection::Handle {
  // Without SQLite's own mutex, which is locked anew for each column that is read.
  Handle(const std::string& path, Access access)
      : database(path,
                 SQLite::OPEN_NOMUTEX |
                     (access == Access::kReadOnly ? SQLite::OPEN_READONLY
                                                  : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE),
                 kBusyTimeoutMs) {}

  SQLite::Statement take(const std::string& sql) {
    const auto kept = idle.find(sql);
    if (kept == idle.end()) return SQLite::Statement(database, sql);
    return std::move(idle.extract(kept).mapped());
  }
  void give_back(SQLite::Statement statement) noexcept {
    constexpr size_t kMost = 128;
    // What a statement that failed says again at its reset has been thrown already.
    statement.tryReset();
    try {
      statement.clearBindings();
      if (idle.size() >= kMost) idle.clear();
      const std::string sql = statement.getQuery();
      idle.emplace(sql, std::move(statement));
    } catch (const std::exception&) {
      // Then it is prepared again.
    }
  }

  static void report(void* handle, int, const char*, const char* table, sqlite3_int64 row) {
    static_cast<Handle*>(handle)->changed(table, row);
  }

  OnChange changed;
  SQLite::Database database;
  std::unordered_multimap<std::string, SQLite::Statement> idle;  // by their text; reset, unbound
};

struct Statement::Handle {
  Handle(Connection::Handle& connection, const std::string& sql)
      : owner(connection), statement(connection.take(sql)) {}
  ~Handle() { owner.give_back(std::move(statement)); }
  Connection::Handle& owner;
  SQLite::Statement statement;
};

Connection::Connection(const std::string& path, Access access) : path_(path) {
  handle_ = guarded(path_, [&] { return std::make_unique<Handle>(path, access); });
}

Connection::~Connection() = default;

void Connection::execute(const std::string& sql) {
  guarded(path_, [&] { return handle_->database.exec(sql); });
}

void Connection::on_change(OnChange changed) {
  handle_->changed = std::move(changed);
  sqlite3_update_hook(handle_->database.getHandle(), &Handle::report, handle_.get());
}

int64_t Connection::last_insert_id() const { return handle_->database.getLastInsertRowid(); }

int64_t Connection::changes() const { return handle_->database.getChanges(); }

Statement::Statement(Connection& connection, const std::string& sql) : connection_(connection) {
  handle_ = guarded(connection_.path_,
                    [&] { return std::make_unique<Handle>(*connection_.handle_, sql); });
}

Statement::~Statement() = default;

Statement& Statement::bind(int64_t value) {
  guarded(connection_.path_, [&] { handle_->statement.bind(++bound_, value); });
  return *this;
}

Statement& Statement::bind(double value) {
  guarded(connection_.path_, [&] { handle_->statement.bind(++bound_, value); });
  return *this;
}

Statement& Statement::bind(const std::string& value) {
  guarded(connection_.path_, [&] { handle_->statement.bind(++bound_, value); });
  return *this;
}

Statement& Statement::bind(const std::optional<int>& value) {
  if (value) return bind(static_cast<int64_t>(*value));
  guarded(connection_.path_, [&] { handle_->statement.bind(++bound_); });
  return *this;
}

bool Statement::step() {
  return guarded(connection_.path_, [&] { return handle_->statement.executeStep(); });
}

void Statement::run() {
  while (step()) {
  }
}

int64_t Statement::integer(int column) const {
  return handle_->statement.getColumn(column).getInt64();
}

double Statement::real(int column) const {
  return handle_->statement.getColumn(column).getDouble();
}

std::string Statement::text(int column) const {
  return handle_->statement.getColumn(column).getString();
}

void Statement::read(int column, std::optional<int>& value) const {
  value.reset();
  if (!handle_->statement.getColumn(column).isNull()) read(column, value.emplace());
}

}  // namespace db
