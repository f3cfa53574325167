#include "db/restored.h"

#include <limits>

#include "db/attempts.h"
#include "db/records.h"
#include "db/schema.h"

namespace db {
namespace {

constexpr const char* kEndedBefore =
    "followed by another attempt after the copy from which the database was restored; how this one "
    "ended is not known";
constexpr const char* kFound =
    "made after the copy from which the database was restored; found by its folder";

std::string instance_of(Connection& connection) {
  Statement query(connection, "SELECT id FROM instance");
  return query.step() ? query.text(0) : "";
}

void end_open_attempts(Connection& connection, int64_t item_id, int64_t now) {
  Statement(connection, std::string("UPDATE attempts SET state = ?, message = ?, ended = ? "
                                    "WHERE item_id = ? AND state IN ") +
                            kOpenStates)
      .bind(to_string(AttemptState::kLost))
      .bind(kEndedBefore)
      .bind(now)
      .bind(item_id)
      .run();
}

// In the columns of the first schema: the later ones have defaults.
void insert(Connection& connection, const std::string& instance, const FoundAttempt& found,
            AttemptState state, int64_t ended) {
  Statement(
      connection,
      "INSERT INTO attempts (item_id, number, token, state, cause, message, shape, "
      "explanation, script, script_sha256, config_sha256, directory, resume_from, job_id, "
      "host, created, submitted, started, ended) "
      "VALUES (?, ?, ?, ?, '', ?, 'as in its script', '', ?, ?, ?, ?, '', '', '', ?, ?, 0, ?)")
      .bind(found.item_id)
      .bind(found.number)
      .bind(make_token(instance, found.item_id, found.number))
      .bind(to_string(state))
      .bind(is_open(state) ? kFound : kEndedBefore)
      .bind(found.script)
      .bind(found.script_sha256)
      .bind(found.config_sha256)
      .bind(found.directory)
      .bind(found.created)
      .bind(found.created)
      .bind(ended)
      .run();
}

// A job on several nodes is submitted held, and may still be: it is released where it is.
void set_width(Connection& connection, const FoundAttempt& found) {
  constexpr int kSchemaWithWidths = 9;
  if (stored_version(connection) < kSchemaWithWidths) return;
  Statement(connection,
            "UPDATE attempts SET nodes = ?, gpus = ?, gpus_per_node = ?, release_due = ? "
            "WHERE item_id = ? AND number = ?")
      .bind(found.nodes)
      .bind(found.gpus)
      .bind(found.gpus / found.nodes)
      .bind(found.nodes > 1)
      .bind(found.item_id)
      .bind(found.number)
      .run();
}

void set_active(Connection& connection, int64_t item_id, int64_t now) {
  Statement(connection, "UPDATE items SET state = ?, reason = ?, changed = ? WHERE id = ?")
      .bind(to_string(ItemState::kActive))
      .bind(std::string("its attempt was ") + kFound)
      .bind(now)
      .bind(item_id)
      .run();
}

void raise_sequence(Connection& connection, int64_t highest) {
  Statement(connection,
            "INSERT INTO sqlite_sequence (name, seq) SELECT 'items', 0 "
            "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'items')")
      .run();
  Statement(connection, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'items'")
      .bind(highest)
      .run();
}

}  // namespace

std::map<int64_t, int> newest_attempts(Connection& connection) {
  Statement query(connection,
                  "SELECT i.id, i.state, coalesce(max(a.number), 0) FROM items i "
                  "LEFT JOIN attempts a ON a.item_id = i.id GROUP BY i.id");
  std::map<int64_t, int> newest;
  while (query.step()) {
    const bool done = query.text(1) == to_string(ItemState::kDone);
    newest[query.integer(0)] =
        done ? std::numeric_limits<int>::max() : static_cast<int>(query.integer(2));
  }
  constexpr int kSchemaWithRemovals = 15;
  if (stored_version(connection) < kSchemaWithRemovals) return newest;
  Statement removed(connection, "SELECT id FROM removed_items");
  while (removed.step()) newest[removed.integer(0)] = std::numeric_limits<int>::max();
  return newest;
}

int64_t highest_item(Connection& connection) {
  Statement query(connection,
                  "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'items'");
  return query.step() ? query.integer(0) : 0;
}

void add_found_attempts(Connection& connection, const std::vector<FoundAttempt>& found,
                        int64_t highest, int64_t now) {
  connection.execute("BEGIN IMMEDIATE");
  const std::string instance = instance_of(connection);
  for (size_t i = 0; i < found.size(); ++i) {
    const int64_t item = found[i].item_id;
    if (i == 0 || found[i - 1].item_id != item) {
      end_open_attempts(connection, item, now);
      set_active(connection, item, now);
    }
    const bool newest = i + 1 == found.size() || found[i + 1].item_id != item;
    if (newest) {
      insert(connection, instance, found[i], AttemptState::kUnknown, 0);
      set_width(connection, found[i]);
    } else {
      insert(connection, instance, found[i], AttemptState::kLost, now);
    }
  }
  raise_sequence(connection, highest);
  connection.execute("COMMIT");
}

}  // namespace db
