#include "db/schema.h"

#include <array>

namespace db {
namespace {

constexpr const char* kFirst = R"sql(
CREATE TABLE instance (
  id TEXT NOT NULL,
  created INTEGER NOT NULL
);
CREATE TABLE templates (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  volume_path TEXT NOT NULL,
  volume_sha256 TEXT NOT NULL,
  volume_bytes INTEGER NOT NULL,
  volume_mtime_ns INTEGER NOT NULL,
  search_yaml TEXT NOT NULL,
  search_sha256 TEXT NOT NULL,
  owner_uid INTEGER NOT NULL,
  owner TEXT NOT NULL,
  created INTEGER NOT NULL,
  UNIQUE (name, version)
);
CREATE TABLE items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  micrograph_path TEXT NOT NULL,
  template_id INTEGER NOT NULL REFERENCES templates (id),
  repeat INTEGER NOT NULL,
  priority TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  defocus_u REAL NOT NULL,
  defocus_v REAL NOT NULL,
  astigmatism_angle REAL NOT NULL,
  phase_shift REAL NOT NULL,
  ctf_source TEXT NOT NULL,
  micrograph_bytes INTEGER NOT NULL,
  micrograph_mtime_ns INTEGER NOT NULL,
  owner_uid INTEGER NOT NULL,
  owner TEXT NOT NULL,
  label TEXT NOT NULL,
  cancel_requested INTEGER NOT NULL,
  created INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  forgiven INTEGER NOT NULL,
  UNIQUE (micrograph_path, template_id, repeat)
);
CREATE INDEX items_by_state ON items (state);
CREATE TABLE attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  item_id INTEGER NOT NULL REFERENCES items (id),
  number INTEGER NOT NULL,
  token TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  cause TEXT NOT NULL,
  message TEXT NOT NULL,
  shape TEXT NOT NULL,
  explanation TEXT NOT NULL,
  script TEXT NOT NULL,
  script_sha256 TEXT NOT NULL,
  config_sha256 TEXT NOT NULL,
  directory TEXT NOT NULL,
  resume_from TEXT NOT NULL,
  job_id TEXT NOT NULL,
  host TEXT NOT NULL,
  exit_code INTEGER,
  created INTEGER NOT NULL,
  submitted INTEGER NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  forgotten INTEGER NOT NULL DEFAULT 0,
  UNIQUE (item_id, number)
);
CREATE INDEX attempts_by_state ON attempts (state);
CREATE INDEX attempts_to_forget ON attempts (forgotten) WHERE forgotten = 0;
CREATE TABLE results (
  item_id INTEGER PRIMARY KEY REFERENCES items (id),
  attempt_id INTEGER NOT NULL UNIQUE REFERENCES attempts (id),
  manifest_path TEXT NOT NULL,
  peaks_csv TEXT NOT NULL,
  peaks INTEGER NOT NULL,
  cutoff REAL NOT NULL,
  best_z REAL NOT NULL,
  correlations INTEGER NOT NULL,
  seconds REAL NOT NULL,
  manifest_json TEXT NOT NULL,
  stored INTEGER NOT NULL
);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,
  item_id INTEGER NOT NULL,
  detail TEXT NOT NULL
);
CREATE INDEX audit_by_item ON audit (item_id);
)sql";

constexpr const char* kSecond = R"sql(
ALTER TABLE items ADD COLUMN options TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN cluster_words TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN cluster_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN release_due INTEGER NOT NULL DEFAULT 0;
CREATE TABLE host_failures (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  host TEXT NOT NULL,
  item_id INTEGER NOT NULL REFERENCES items (id),
  attempt_id INTEGER NOT NULL UNIQUE REFERENCES attempts (id),
  cause TEXT NOT NULL,
  time INTEGER NOT NULL
);
CREATE INDEX host_failures_by_time ON host_failures (time);
)sql";

constexpr const char* kThird = R"sql(
ALTER TABLE attempts ADD COLUMN stop_asked INTEGER NOT NULL DEFAULT 0;
)sql";

// attempts.exempt: it failed by the site's fault and does not count against its item.
// host_failures.row_start: when the search began whose device failed its probe, while no later
// search has passed its probe; else 0.
constexpr const char* kFourth = R"sql(
ALTER TABLE attempts ADD COLUMN exempt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE host_failures ADD COLUMN row_start INTEGER NOT NULL DEFAULT 0;
CREATE INDEX host_failures_in_row ON host_failures (row_start) WHERE row_start > 0;
)sql";

constexpr const char* kFifth = R"sql(
CREATE TABLE pauses (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uid INTEGER NOT NULL,
  who TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL
);
)sql";

constexpr const char* kSixth = R"sql(
ALTER TABLE items ADD COLUMN micrograph_inode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN micrograph_device INTEGER NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN micrograph_mount TEXT NOT NULL DEFAULT '';
ALTER TABLE templates ADD COLUMN volume_inode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE templates ADD COLUMN volume_device INTEGER NOT NULL DEFAULT 0;
ALTER TABLE templates ADD COLUMN volume_mount TEXT NOT NULL DEFAULT '';
)sql";

// place: Item::options's text of what the lane's jobs ask for, "partition=gpu".
constexpr const char* kSeventh = R"sql(
CREATE TABLE lane_pauses (
  place TEXT PRIMARY KEY,
  uid INTEGER NOT NULL,
  who TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL
);
)sql";

// micrograph_ctime_ns: 0 for a micrograph that is still to be read.
constexpr const char* kEighth = R"sql(
ALTER TABLE items ADD COLUMN micrograph_sha256 TEXT NOT NULL DEFAULT '';
ALTER TABLE items ADD COLUMN micrograph_ctime_ns INTEGER NOT NULL DEFAULT 0;
CREATE INDEX items_unread ON items (priority, owner_uid, id, not_before)
  WHERE micrograph_ctime_ns = 0 AND state IN ('QUEUED', 'HELD');
)sql";

// nodes, gpus_per_node: of the width that shape has as text, "4 nodes (16 GPUs)".
constexpr const char* kNinth = R"sql(
ALTER TABLE attempts ADD COLUMN nodes INTEGER NOT NULL DEFAULT 1;
ALTER TABLE attempts ADD COLUMN gpus_per_node INTEGER NOT NULL DEFAULT 0;
UPDATE attempts SET nodes = CAST(shape AS INTEGER) WHERE shape LIKE '% nodes (%';
UPDATE attempts SET gpus_per_node = gpus / max(nodes, 1);
)sql";

// templates.counted_by: the version of the engine that counted; empty: nothing is known.
// items.micrograph_width: 0: not known. measures: see Measure.
constexpr const char* kTenth = R"sql(
ALTER TABLE templates ADD COLUMN counted_by TEXT NOT NULL DEFAULT '';
ALTER TABLE templates ADD COLUMN orientations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE templates ADD COLUMN defocus_planes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE templates ADD COLUMN pixel_sizes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE templates ADD COLUMN template_size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN micrograph_width INTEGER NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN micrograph_height INTEGER NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN micrograph_pixel_size REAL NOT NULL DEFAULT 0;
CREATE TABLE measures (
  kind TEXT NOT NULL,
  engine TEXT NOT NULL,
  device TEXT NOT NULL,
  height INTEGER NOT NULL,
  width INTEGER NOT NULL,
  template_size INTEGER NOT NULL,
  gpus INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  mean REAL NOT NULL,
  squares REAL NOT NULL,
  PRIMARY KEY (kind, engine, device, height, width, template_size, gpus)
);
)sql";

// finish_by: the deadline, 0: none. group_name: the owner's group, '': not known.
constexpr const char* kEleventh = R"sql(
ALTER TABLE items ADD COLUMN finish_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN group_name TEXT NOT NULL DEFAULT '';
)sql";

// A group's tokens that were taken to make items urgent.
constexpr const char* kWithUrgentTokens = R"sql(
CREATE TABLE urgent_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_name TEXT NOT NULL,
  time INTEGER NOT NULL,
  item_id INTEGER NOT NULL REFERENCES items (id),
  uid INTEGER NOT NULL,
  who TEXT NOT NULL
);
CREATE INDEX urgent_tokens_by_group ON urgent_tokens (group_name, time);
CREATE INDEX urgent_tokens_by_item ON urgent_tokens (item_id, time);
)sql";

// segment: seconds after which its job stops with a checkpoint, 0: it runs whole. by_floor:
// submitted for the floor of its class. got_further: it left a later checkpoint than it began with.
// items.searched: the share of the search that its newest checkpoint has.
constexpr const char* kPolicyColumns = R"sql(
ALTER TABLE attempts ADD COLUMN segment INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN by_floor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN got_further INTEGER NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN searched REAL NOT NULL DEFAULT 0;
)sql";

// templates.removed: when it was removed, 0: it is there. contents: see Content.
constexpr const char* kTemplatesRemoved = R"sql(
ALTER TABLE templates ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
CREATE TABLE contents (
  owner_uid INTEGER NOT NULL,
  template_name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  item_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (owner_uid, template_name, sha256)
) WITHOUT ROWID;
)sql";

// removed_items, removed_attempts: what stays of an item that was removed. removals: folders that
// are still to be removed. What host_failures and urgent_tokens say outlives the item that it is
// about.
constexpr const char* kRemovedItems = R"sql(
CREATE TABLE removed_items (
  id INTEGER PRIMARY KEY,
  micrograph_path TEXT NOT NULL,
  template_id INTEGER NOT NULL REFERENCES templates (id),
  repeat INTEGER NOT NULL,
  priority TEXT NOT NULL,
  state TEXT NOT NULL,
  owner_uid INTEGER NOT NULL,
  owner TEXT NOT NULL,
  group_name TEXT NOT NULL,
  created INTEGER NOT NULL,
  finish_by INTEGER NOT NULL,
  micrograph_bytes INTEGER NOT NULL,
  micrograph_mtime_ns INTEGER NOT NULL,
  micrograph_sha256 TEXT NOT NULL,
  micrograph_width INTEGER NOT NULL,
  micrograph_height INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  removed_by TEXT NOT NULL,
  results TEXT NOT NULL
);
CREATE INDEX removed_items_by_file ON removed_items (micrograph_path, template_id, repeat);
CREATE TABLE removed_attempts (
  id INTEGER PRIMARY KEY,
  item_id INTEGER NOT NULL REFERENCES removed_items (id),
  number INTEGER NOT NULL,
  state TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  gpus INTEGER NOT NULL,
  nodes INTEGER NOT NULL,
  gpus_per_node INTEGER NOT NULL
);
CREATE INDEX removed_attempts_by_item ON removed_attempts (item_id, number);
CREATE TABLE removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  item_id INTEGER NOT NULL,
  folder TEXT NOT NULL,
  results TEXT NOT NULL
);
CREATE TABLE kept_host_failures (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  host TEXT NOT NULL,
  item_id INTEGER NOT NULL,
  attempt_id INTEGER NOT NULL UNIQUE,
  cause TEXT NOT NULL,
  time INTEGER NOT NULL,
  row_start INTEGER NOT NULL DEFAULT 0
);
INSERT INTO kept_host_failures
  SELECT id, host, item_id, attempt_id, cause, time, row_start FROM host_failures;
DROP TABLE host_failures;
ALTER TABLE kept_host_failures RENAME TO host_failures;
CREATE INDEX host_failures_by_time ON host_failures (time);
CREATE INDEX host_failures_in_row ON host_failures (row_start) WHERE row_start > 0;
CREATE TABLE kept_urgent_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_name TEXT NOT NULL,
  time INTEGER NOT NULL,
  item_id INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  who TEXT NOT NULL
);
INSERT INTO kept_urgent_tokens
  SELECT id, group_name, time, item_id, uid, who FROM urgent_tokens;
DROP TABLE urgent_tokens;
ALTER TABLE kept_urgent_tokens RENAME TO urgent_tokens;
CREATE INDEX urgent_tokens_by_group ON urgent_tokens (group_name, time);
CREATE INDEX urgent_tokens_by_item ON urgent_tokens (item_id, time);
CREATE INDEX audit_by_time ON audit (time);
)sql";

// Step n brings version n to n + 1. Never change one that was released: append.
constexpr std::array kSteps = {
    kFirst,         kSecond,           kThird,       kFourth, kFifth,    kSixth,
    kSeventh,       kEighth,           kNinth,       kTenth,  kEleventh, kWithUrgentTokens,
    kPolicyColumns, kTemplatesRemoved, kRemovedItems};

}  // namespace

int64_t stored_version(Connection& connection) {
  Statement query(connection, "PRAGMA user_version");
  query.step();
  return query.integer(0);
}

int newest_schema() { return static_cast<int>(kSteps.size()); }

int upgrade_schema(Connection& connection) {
  const int64_t version = stored_version(connection);
  if (version == newest_schema()) return newest_schema();
  connection.execute("BEGIN IMMEDIATE");
  try {
    if (version > newest_schema()) {
      throw DatabaseRefused("database '" + connection.path() + "' has schema version " +
                            std::to_string(version) + ", this program knows up to " +
                            std::to_string(newest_schema()) +
                            ": start the newer margayd, or restore an older backup");
    }
    for (size_t step = static_cast<size_t>(version); step < kSteps.size(); ++step) {
      connection.execute(kSteps[step]);
    }
    connection.execute("PRAGMA user_version = " + std::to_string(newest_schema()));
    connection.execute("COMMIT");
  } catch (...) {
    try {
      connection.execute("ROLLBACK");
    } catch (const DatabaseError&) {
      // SQLite has rolled back by itself when the disk is full; the first error is the one to show.
    }
    throw;
  }
  return newest_schema();
}

}  // namespace db
