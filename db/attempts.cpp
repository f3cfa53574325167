#include "db/attempts.h"

#include "db/table.h"

namespace db {
namespace {

const Table<Attempt> kAttempts("attempts",
                               {{"id", &Attempt::id, Use::kKey},
                                {"item_id", &Attempt::item_id},
                                {"number", &Attempt::number},
                                {"token", &Attempt::token},
                                {"state", &Attempt::state, Use::kChanges},
                                {"cause", &Attempt::cause, Use::kChanges},
                                {"message", &Attempt::message, Use::kChanges},
                                {"shape", &Attempt::shape},
                                {"explanation", &Attempt::explanation},
                                {"script", &Attempt::script, Use::kKept},
                                {"script_sha256", &Attempt::script_sha256},
                                {"config_sha256", &Attempt::config_sha256},
                                {"directory", &Attempt::directory},
                                {"resume_from", &Attempt::resume_from},
                                {"job_id", &Attempt::job_id, Use::kChanges},
                                {"host", &Attempt::host, Use::kChanges},
                                {"exit_code", &Attempt::exit_code, Use::kChanges},
                                {"exempt", &Attempt::exempt},
                                {"created", &Attempt::created},
                                {"submitted", &Attempt::submitted, Use::kChanges},
                                {"started", &Attempt::started, Use::kChanges},
                                {"ended", &Attempt::ended, Use::kChanges},
                                {"cluster_words", &Attempt::cluster_words, Use::kChanges},
                                {"cluster_reason", &Attempt::cluster_reason, Use::kChanges},
                                {"restarts", &Attempt::restarts, Use::kChanges},
                                {"gpus", &Attempt::gpus},
                                {"nodes", &Attempt::nodes},
                                {"gpus_per_node", &Attempt::gpus_per_node},
                                {"release_due", &Attempt::release_due, Use::kChanges},
                                {"stop_asked", &Attempt::stop_asked, Use::kChanges},
                                {"segment", &Attempt::segment},
                                {"by_floor", &Attempt::by_floor},
                                {"got_further", &Attempt::got_further, Use::kChanges}});

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
  return kAttempts.insert(database_, attempt);
}

std::optional<Attempt> AttemptStore::find(int64_t id) const {
  return kAttempts.one(database_, "WHERE id = ?", id);
}

std::string AttemptStore::script(int64_t id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), "SELECT script FROM attempts WHERE id = ?");
  query.bind(id);
  return query.step() ? query.text(0) : "";
}

std::optional<Attempt> AttemptStore::find_by_token(const std::string& token) const {
  return kAttempts.one(database_, "WHERE token = ?", token);
}

std::vector<Attempt> AttemptStore::of_item(int64_t item_id) const {
  return kAttempts.all(database_, "WHERE item_id = ? ORDER BY number", item_id);
}

std::optional<Attempt> AttemptStore::newest_of_item(int64_t item_id) const {
  return kAttempts.one(database_, "WHERE item_id = ? ORDER BY number DESC", item_id);
}

std::optional<Attempt> AttemptStore::open_of_item(int64_t item_id) const {
  return kAttempts.one(
      database_,
      std::string("WHERE item_id = ? AND +state IN ") + kOpenStates + " ORDER BY number DESC",
      item_id);
}

std::vector<Attempt> AttemptStore::open() const {
  return kAttempts.all(database_, std::string("WHERE state IN ") + kOpenStates + " ORDER BY id");
}

std::vector<Attempt> AttemptStore::ended_not_forgotten() const {
  return kAttempts.all(database_, kAttempts.readable() + "AND forgotten = 0 AND state NOT IN " +
                                      kOpenStates + " ORDER BY id");
}

std::vector<std::string> AttemptStore::unreadable(int64_t most) const {
  return kAttempts.unreadable(database_, most);
}

void AttemptStore::mark_forgotten(int64_t id) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "UPDATE attempts SET forgotten = 1 WHERE id = ?")
      .bind(id)
      .run();
}

void AttemptStore::remove(int64_t id) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "DELETE FROM attempts WHERE id = ?").bind(id).run();
}

void AttemptStore::mark_exempt(int64_t id) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "UPDATE attempts SET exempt = 1 WHERE id = ?").bind(id).run();
}

bool AttemptStore::update(const Attempt& attempt) {
  return kAttempts.update(database_, attempt, std::string(" AND state IN ") + kOpenStates);
}

}  // namespace db
