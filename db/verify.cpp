#include "db/verify.h"

#include <filesystem>

#include "db/attempts.h"
#include "db/records.h"
#include "db/schema.h"

namespace db {
namespace {

constexpr int kMostOfAKind = 10;
constexpr const char* kRestore = "restore a copy that is whole: margay admin restore FILE";
constexpr const char* kByHand =
    "restore a copy that is whole with 'margay admin restore FILE'; without one, stop margayd and "
    "correct the row with sqlite3";

// `query` gives one sentence for each row that is wrong, in columns that every schema has.
struct Check {
  std::string query;
  const char* advice;
};

std::string not_among(const char* table, const char* column, const std::string& words) {
  return std::string("SELECT 'table ") + table + ", id ' || id || ': unknown " + column +
         " ''' || " + column + " || '''' FROM " + table + " WHERE " + column + " NOT IN (" + words +
         ")";
}

std::string number_given(const char* table) {
  return std::string("SELECT 'table ") + table + ": the next number would be one that was given, " +
         "since ' || max(id) || ' is the highest' FROM " + table +
         " HAVING max(id) > (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '" +
         table + "')";
}

std::vector<Check> checks() {
  constexpr const char* kUnknownWord =
      "start the newer margayd that wrote it, or correct the row with sqlite3";
  const std::string open = std::string("a.state IN ") + kOpenStates;
  return {
      {not_among("items", "state", words_for_sql<ItemState>()), kUnknownWord},
      {not_among("items", "priority", words_for_sql<Priority>()), kUnknownWord},
      {not_among("attempts", "state", words_for_sql<AttemptState>()), kUnknownWord},
      {"SELECT 'item ' || id || ' is ACTIVE without an attempt that is open: nothing would end it' "
       "FROM items i WHERE state = 'ACTIVE' AND NOT EXISTS "
       "(SELECT 1 FROM attempts a WHERE a.item_id = i.id AND " +
           open + ")",
       kByHand},
      {"SELECT 'attempt ' || a.token || ' is ' || a.state || ', but its item is ' || i.state "
       "FROM attempts a JOIN items i ON i.id = a.item_id WHERE i.state != 'ACTIVE' AND " +
           open,
       kByHand},
      {"SELECT 'item ' || a.item_id || ' has ' || count(*) || ' attempts that are open' "
       "FROM attempts a WHERE " +
           open + " GROUP BY a.item_id HAVING count(*) > 1",
       kByHand},
      {"SELECT 'attempt ' || a.token || ' is ' || a.state || ', but is not the newest of its item' "
       "FROM attempts a WHERE " +
           open +
           " AND EXISTS (SELECT 1 FROM attempts b WHERE b.item_id = a.item_id AND b.number > "
           "a.number)",
       kByHand},
      {"SELECT 'attempt ' || token || ' is ' || state || ', but has no job' FROM attempts "
       "WHERE state IN ('PENDING', 'RUNNING', 'COMPLETING') AND job_id = ''",
       kByHand},
      {"SELECT 'attempt ' || id || ' has the token ''' || token || ''', which is not its own' "
       "FROM attempts WHERE token != 'margay-' || (SELECT id FROM instance) || '-' || item_id || "
       "'-a' || number",
       kByHand},
      {"SELECT 'item ' || id || ' is DONE without a result' FROM items i WHERE state = 'DONE' AND "
       "NOT EXISTS (SELECT 1 FROM results r WHERE r.item_id = i.id)",
       kByHand},
      {"SELECT 'item ' || r.item_id || ' has a result, but is ' || i.state FROM results r "
       "JOIN items i ON i.id = r.item_id WHERE i.state != 'DONE'",
       kByHand},
      {"SELECT 'the result of item ' || r.item_id || ' is of an attempt at item ' || a.item_id || "
       "' that is ' || a.state FROM results r JOIN attempts a ON a.id = r.attempt_id "
       "WHERE a.item_id != r.item_id OR a.state != 'DONE'",
       kByHand},
      {number_given("items"), kByHand},
      {number_given("attempts"), kByHand},
      {number_given("templates"), kByHand},
      {"SELECT 'the database has ' || count(*) || ' instances instead of one' FROM instance "
       "HAVING count(*) != 1",
       kRestore},
  };
}

class Verifier {
 public:
  explicit Verifier(const std::string& path) {
    found_.database = path;
    found_.newest_schema = newest_schema();
  }

  Verification verify() {
    try {
      Connection connection(found_.database, Access::kReadOnly);
      connection.execute("BEGIN");  // what is read is of one moment
      look_at(connection);
    } catch (const DatabaseError& error) {
      add(error.what(), kRestore);
    }
    return std::move(found_);
  }

 private:
  void add(const std::string& says, const std::string& advice) {
    found_.problems.push_back({says, advice});
  }

  void look_at(Connection& connection) {
    check_integrity(connection);
    found_.schema = stored_version(connection);
    if (found_.schema == 0) {
      add("'" + found_.database + "' is no database of margayd",
          "name the file that 'margay admin backup' wrote");
    } else if (found_.schema > newest_schema()) {
      add("the schema has version " + std::to_string(found_.schema) +
              ", this program knows up to " + std::to_string(newest_schema()),
          "use the newer margay and margayd, or an older copy");
    }
    if (!found_.problems.empty()) return;
    check_foreign_keys(connection);
    for (const Check& check : checks()) run(connection, check);
    count(connection);
  }

  void check_integrity(Connection& connection) {
    Statement query(connection, "PRAGMA integrity_check(" + std::to_string(kMostOfAKind) + ")");
    while (query.step()) {
      const std::string says = query.text(0);
      if (says != "ok") add("the file is damaged: " + says, kRestore);
    }
  }

  void check_foreign_keys(Connection& connection) {
    Statement query(connection, "PRAGMA foreign_key_check");
    for (int rows = 0; rows < kMostOfAKind && query.step(); ++rows) {
      add("row " + query.text(1) + " of table " + query.text(0) + " refers to a row of table " +
              query.text(2) + " that is not there",
          kByHand);
    }
  }

  void run(Connection& connection, const Check& check) {
    Statement query(connection, check.query);
    for (int rows = 0; query.step(); ++rows) {
      if (rows == kMostOfAKind) {
        add("and more like the last ones", check.advice);
        return;
      }
      add(query.text(0), check.advice);
    }
  }

  static int64_t number(Connection& connection, const std::string& sql) {
    Statement query(connection, sql);
    return query.step() ? query.integer(0) : 0;
  }

  void count(Connection& connection) {
    {
      Statement query(connection, "SELECT id FROM instance");
      if (query.step()) found_.instance = query.text(0);
    }
    Statement query(connection, "SELECT state, count(*) FROM items GROUP BY state ORDER BY state");
    while (query.step()) {
      found_.item_states.emplace_back(query.text(0), query.integer(1));
      found_.items += query.integer(1);
    }
    found_.attempts = number(connection, "SELECT count(*) FROM attempts");
    found_.open_attempts = number(
        connection, std::string("SELECT count(*) FROM attempts WHERE state IN ") + kOpenStates);
    found_.results = number(connection, "SELECT count(*) FROM results");
    found_.templates = number(connection, "SELECT count(*) FROM templates");
  }

  Verification found_;
};

}  // namespace

Verification verify_database(const std::string& path) {
  if (!std::filesystem::exists(path)) throw DatabaseError("there is no database '" + path + "'");
  return Verifier(path).verify();
}

}  // namespace db
