#include "db/attempts.h"

namespace db {
namespace {

const std::string kSelect =
    "SELECT id, item_id, number, token, state, cause, message, shape, explanation, "
    "script_sha256, config_sha256, directory, resume_from, job_id, host, exit_code, created, "
    "submitted, started, ended, cluster_words, cluster_reason, restarts, gpus, release_due, "
    "stop_asked FROM attempts ";
const std::string kOpenStates = "('SUBMITTING', 'UNKNOWN', 'PENDING', 'RUNNING', 'COMPLETING')";

Attempt read_row(const Statement& row) {
  Attempt attempt;
  attempt.id = row.integer(0);
  attempt.item_id = row.integer(1);
  attempt.number = static_cast<int>(row.integer(2));
  attempt.token = row.text(3);
  const auto state = parse_attempt_state(row.text(4));
  if (!state) {
    throw DatabaseError("attempt " + attempt.token + " has the unknown state '" + row.text(4) +
                        "': it was written by a newer margayd");
  }
  attempt.state = *state;
  attempt.cause = row.text(5);
  attempt.message = row.text(6);
  attempt.shape = row.text(7);
  attempt.explanation = row.text(8);
  attempt.script_sha256 = row.text(9);
  attempt.config_sha256 = row.text(10);
  attempt.directory = row.text(11);
  attempt.resume_from = row.text(12);
  attempt.job_id = row.text(13);
  attempt.host = row.text(14);
  if (!row.is_null(15)) attempt.exit_code = static_cast<int>(row.integer(15));
  attempt.created = row.integer(16);
  attempt.submitted = row.integer(17);
  attempt.started = row.integer(18);
  attempt.ended = row.integer(19);
  attempt.cluster_words = row.text(20);
  attempt.cluster_reason = row.text(21);
  attempt.restarts = static_cast<int>(row.integer(22));
  attempt.gpus = static_cast<int>(row.integer(23));
  attempt.release_due = row.integer(24) != 0;
  attempt.stop_asked = row.integer(25);
  return attempt;
}

std::optional<Attempt> one(Statement& query) {
  if (!query.step()) return std::nullopt;
  return read_row(query);
}

std::vector<Attempt> all(Statement& query) {
  std::vector<Attempt> attempts;
  while (query.step()) attempts.push_back(read_row(query));
  return attempts;
}

}  // namespace

bool is_open(AttemptState state) {
  switch (state) {
    case AttemptState::kSubmitting:
    case AttemptState::kUnknown:
    case AttemptState::kPending:
    case AttemptState::kRunning:
    case AttemptState::kCompleting:
      return true;
    case AttemptState::kRejected:
    case AttemptState::kDone:
    case AttemptState::kCheckpointed:
    case AttemptState::kFailed:
    case AttemptState::kLost:
    case AttemptState::kCancelled:
    case AttemptState::kNeverStarted:
      return false;
  }
  return false;
}

int64_t AttemptStore::insert(const Attempt& attempt) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "INSERT INTO attempts (item_id, number, token, state, cause, message, shape, "
            "explanation, script, script_sha256, config_sha256, directory, resume_from, job_id, "
            "host, exit_code, created, submitted, started, ended, gpus, release_due) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(attempt.item_id)
      .bind(attempt.number)
      .bind(attempt.token)
      .bind(to_string(attempt.state))
      .bind(attempt.cause)
      .bind(attempt.message)
      .bind(attempt.shape)
      .bind(attempt.explanation)
      .bind(attempt.script)
      .bind(attempt.script_sha256)
      .bind(attempt.config_sha256)
      .bind(attempt.directory)
      .bind(attempt.resume_from)
      .bind(attempt.job_id)
      .bind(attempt.host)
      .bind(attempt.exit_code)
      .bind(attempt.created)
      .bind(attempt.submitted)
      .bind(attempt.started)
      .bind(attempt.ended)
      .bind(attempt.gpus)
      .bind(attempt.release_due)
      .run();
  return database_.connection().last_insert_id();
}

std::optional<Attempt> AttemptStore::find(int64_t id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect + "WHERE id = ?");
  query.bind(id);
  return one(query);
}

std::string AttemptStore::script(int64_t id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), "SELECT script FROM attempts WHERE id = ?");
  query.bind(id);
  return query.step() ? query.text(0) : "";
}

std::optional<Attempt> AttemptStore::find_by_token(const std::string& token) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect + "WHERE token = ?");
  query.bind(token);
  return one(query);
}

std::vector<Attempt> AttemptStore::of_item(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect + "WHERE item_id = ? ORDER BY number");
  query.bind(item_id);
  return all(query);
}

std::optional<Attempt> AttemptStore::newest_of_item(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  kSelect + "WHERE item_id = ? ORDER BY number DESC LIMIT 1");
  query.bind(item_id);
  return one(query);
}

std::vector<Attempt> AttemptStore::open() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  kSelect + "WHERE state IN " + kOpenStates + " ORDER BY id");
  return all(query);
}

std::vector<Attempt> AttemptStore::ended_not_forgotten() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  kSelect + "WHERE forgotten = 0 AND state NOT IN " + kOpenStates + " ORDER BY id");
  return all(query);
}

void AttemptStore::mark_forgotten(int64_t id) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "UPDATE attempts SET forgotten = 1 WHERE id = ?")
      .bind(id)
      .run();
}

bool AttemptStore::update(const Attempt& attempt) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "UPDATE attempts SET state = ?, cause = ?, message = ?, job_id = ?, host = ?, "
            "exit_code = ?, submitted = ?, started = ?, ended = ?, cluster_words = ?, "
            "cluster_reason = ?, restarts = ?, release_due = ?, stop_asked = ? WHERE id = ? "
            "AND state IN " +
                kOpenStates)
      .bind(to_string(attempt.state))
      .bind(attempt.cause)
      .bind(attempt.message)
      .bind(attempt.job_id)
      .bind(attempt.host)
      .bind(attempt.exit_code)
      .bind(attempt.submitted)
      .bind(attempt.started)
      .bind(attempt.ended)
      .bind(attempt.cluster_words)
      .bind(attempt.cluster_reason)
      .bind(attempt.restarts)
      .bind(attempt.release_due)
      .bind(attempt.stop_asked)
      .bind(attempt.id)
      .run();
  return database_.connection().changes() == 1;
}

}  // namespace db
