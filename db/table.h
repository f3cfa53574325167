// A table whose columns are named once, each with the field of the record that it holds: what is
// selected, inserted, updated and read follows from that. A column that has a statement of its own
// (attempts.forgotten) is not named.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/database.h"

namespace db {

enum class Use {
  kKey,      // given by the database
  kFixed,    // written when the record is inserted
  kChanges,  // and whenever it is updated
  kKept,     // written when the record is inserted; not read with the others
};

template <typename Record>
struct Column {
  // `field` is a pointer to the member, or a function from the record to a reference.
  template <typename Field>
  Column(const char* column, Field field, Use use_of_it = Use::kFixed)
      : name(column),
        use(use_of_it),
        bind([field](Statement& statement, const Record& record) {
          statement.bind(std::invoke(field, record));
        }),
        read([field](const Statement& row, int at, Record& record) {
          row.read(at, std::invoke(field, record));
        }) {}
  // A field that is stored as text: its text, and the field from its text. Columns are read in
  // their order, so that the latter may name the record.
  Column(const char* column, std::function<std::string(const Record&)> text,
         std::function<void(const std::string&, Record&)> set, Use use_of_it)
      : name(column),
        use(use_of_it),
        bind([text = std::move(text)](Statement& statement, const Record& record) {
          statement.bind(text(record));
        }),
        read([set = std::move(set)](const Statement& row, int at, Record& record) {
          set(row.text(at), record);
        }) {}

  std::string name;
  Use use;
  std::function<void(Statement&, const Record&)> bind;
  std::function<void(const Statement&, int, Record&)> read;
};

// Every method locks the database for one statement and throws DatabaseError.
template <typename Record>
class Table {
 public:
  Table(std::string name, std::vector<Column<Record>> columns)
      : name_(std::move(name)), columns_(std::move(columns)) {}

  // "SELECT every column FROM the table ", to be followed by conditions.
  std::string select() const {
    return "SELECT " + names([](Use use) { return use != Use::kKept; }, "") + " FROM " + name_ +
           " ";
  }

  // Returns the id. `verb`: "INSERT OR IGNORE" leaves a record alone that is there already; the id
  // then has no meaning.
  int64_t insert(Database& database, const Record& record,
                 const std::string& verb = "INSERT") const {
    const auto written = [](Use use) { return use != Use::kKey; };
    std::string marks;
    for (const Column<Record>& column : columns_) {
      if (written(column.use)) marks += marks.empty() ? "?" : ", ?";
    }
    const std::scoped_lock lock(database.mutex());
    Statement statement(database.connection(), verb + " INTO " + name_ + " (" + names(written, "") +
                                                   ") VALUES (" + marks + ")");
    bind(statement, record, written);
    statement.run();
    return database.connection().last_insert_id();
  }

  // Stores what changes. `condition` begins with " AND". False: there is no such record, or it does
  // not meet the condition.
  bool update(Database& database, const Record& record, const std::string& condition = "") const {
    const auto changes = [](Use use) { return use == Use::kChanges; };
    const std::scoped_lock lock(database.mutex());
    Statement statement(
        database.connection(),
        "UPDATE " + name_ + " SET " + names(changes, " = ?") + " WHERE id = ?" + condition);
    bind(statement, record, changes);
    statement.bind(record.id).run();
    return database.connection().changes() == 1;
  }

  // The records that meet `conditions`, whose question marks stand for `values`.
  template <typename... Values>
  std::vector<Record> all(Database& database, const std::string& conditions,
                          const Values&... values) const {
    const std::scoped_lock lock(database.mutex());
    Statement query(database.connection(), select() + conditions);
    (query.bind(values), ...);
    return rows(query);
  }
  // The first of them, by "LIMIT 1" behind the conditions.
  template <typename... Values>
  std::optional<Record> one(Database& database, const std::string& conditions,
                            const Values&... values) const {
    std::vector<Record> found = all(database, conditions + " LIMIT 1", values...);
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  }
  // What a query that begins with select() finds.
  std::vector<Record> rows(Statement& query) const {
    std::vector<Record> records;
    while (query.step()) {
      Record& record = records.emplace_back();
      int at = 0;
      for (const Column<Record>& column : columns_) {
        if (column.use != Use::kKept) column.read(query, at++, record);
      }
    }
    return records;
  }

 private:
  template <typename Chosen>
  std::string names(Chosen chosen, const std::string& behind) const {
    std::string list;
    for (const Column<Record>& column : columns_) {
      if (chosen(column.use)) list += (list.empty() ? "" : ", ") + column.name + behind;
    }
    return list;
  }
  template <typename Chosen>
  void bind(Statement& statement, const Record& record, Chosen chosen) const {
    for (const Column<Record>& column : columns_) {
      if (chosen(column.use)) column.bind(statement, record);
    }
  }

  std::string name_;
  std::vector<Column<Record>> columns_;
};

// The value of a word in the database. Throws DatabaseError when the word has none.
template <typename Value>
Value known(const std::optional<Value>& value, int64_t item_id) {
  if (value) return *value;
  throw DatabaseError("the database holds an unknown state or priority for item " +
                      std::to_string(item_id) + ": it was written by a newer margayd");
}

}  // namespace db
