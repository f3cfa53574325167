// A table whose columns are listed once, each with the field of the record that it holds; SELECT,
// INSERT and UPDATE follow from the list. A column that has statements of its own
// (attempts.forgotten) is not listed.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "db/database.h"
#include "db/records.h"

namespace db {

enum class Use {
  kKey,      // chosen by the database
  kFixed,    // written when the record is inserted
  kChanges,  // written when the record is inserted and whenever it is updated
  kKept,     // written when the record is inserted; select() leaves it out
};

template <typename Record>
struct Column {
  // `field` is a pointer to the member, or a function from the record to a reference. A state or
  // priority is stored as its word.
  template <typename Field>
  Column(const char* column, Field field, Use use_of_it = Use::kFixed)
      : name(column),
        use(use_of_it),
        bind([field](Statement& statement, const Record& record) {
          const auto& value = std::invoke(field, record);
          if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>) {
            statement.bind(to_string(value));
          } else {
            statement.bind(value);
          }
        }),
        read([field](const Statement& row, int at, Record& record) {
          auto& value = std::invoke(field, record);
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_enum_v<Value>) {
            const auto known = parse<Value>(row.text(at));
            if (known) value = *known;
            return known.has_value();
          } else {
            row.read(at, value);
            return true;
          }
        }) {
    using Value = std::decay_t<std::invoke_result_t<Field, Record&>>;
    if constexpr (std::is_enum_v<Value>) words = words_for_sql<Value>();
  }
  // A field that is stored as text; `text` makes the text, `set` sets the field from it.
  Column(const char* column, std::function<std::string(const Record&)> text,
         std::function<void(const std::string&, Record&)> set, Use use_of_it)
      : name(column),
        use(use_of_it),
        bind([text = std::move(text)](Statement& statement, const Record& record) {
          statement.bind(text(record));
        }),
        read([set = std::move(set)](const Statement& row, int at, Record& record) {
          set(row.text(at), record);
          return true;
        }) {}

  std::string name;
  Use use;
  std::function<void(Statement&, const Record&)> bind;
  std::function<bool(const Statement&, int, Record&)> read;  // false: an unknown word
  // The words that this version knows, as a list for SQL; empty: any text is valid.
  std::string words{};
};

// Every method locks the database for one statement. It throws DatabaseError, and UnreadableRow for
// a word that this version does not know; queries for many records use readable() to leave such
// rows out.
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

  // "WHERE every word is known ", to be followed by " AND" and conditions. Its unary plus keeps
  // SQLite from choosing an index by it.
  std::string readable() const {
    std::string conditions;
    for (const Column<Record>& column : columns_) {
      if (column.words.empty()) continue;
      conditions +=
          (conditions.empty() ? "WHERE +" : "AND +") + column.name + " IN (" + column.words + ") ";
    }
    return conditions;
  }
  // What is wrong with the rows that readable() leaves out: one sentence for each row and word, at
  // most `most` for each column.
  std::vector<std::string> unreadable(Database& database, int64_t most) const {
    const std::scoped_lock lock(database.mutex());
    std::vector<std::string> sentences;
    for (const Column<Record>& column : columns_) {
      if (column.words.empty()) continue;
      Statement query(database.connection(),
                      "SELECT " + columns_.front().name + ", " + column.name + " FROM " + name_ +
                          " WHERE " + column.name + " NOT IN (" + column.words + ") LIMIT ?");
      query.bind(most);
      while (query.step()) sentences.push_back(unknown_word(column, query.text(0), query.text(1)));
    }
    return sentences;
  }

  // Returns the id. `verb`: "INSERT OR IGNORE" ignores a record that exists already, and the id
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

  // Stores the columns marked kChanges. `condition` begins with " AND". Returns false when there is
  // no such record or it does not meet the condition.
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
  // The first record that meets `conditions`; nullopt: there is none.
  template <typename... Values>
  std::optional<Record> one(Database& database, const std::string& conditions,
                            const Values&... values) const {
    std::vector<Record> found = all(database, conditions + " LIMIT 1", values...);
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  }
  // Calls `take` for each record that meets `conditions`, one at a time.
  void each(Database& database, const std::string& conditions,
            const std::function<void(const Record&)>& take) const {
    const std::scoped_lock lock(database.mutex());
    Statement query(database.connection(), select() + conditions);
    while (query.step()) take(row(query));
  }
  // The records found by a query that begins with select().
  std::vector<Record> rows(Statement& query) const {
    std::vector<Record> records;
    while (query.step()) records.push_back(row(query));
    return records;
  }

 private:
  Record row(const Statement& query) const {
    Record record;
    int at = 0;
    for (const Column<Record>& column : columns_) {
      if (column.use == Use::kKept || column.read(query, at++, record)) continue;
      throw UnreadableRow(unknown_word(column, query.text(0), query.text(at - 1)));
    }
    return record;
  }
  std::string unknown_word(const Column<Record>& column, const std::string& key,
                           const std::string& word) const {
    return "table " + name_ + ", " + columns_.front().name + " " + key + ": unknown " +
           column.name + " '" + word + "', which this margayd does not know";
  }
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

}  // namespace db
