#include "db/results.h"

namespace db {

void ResultStore::insert(const Result& result) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "INSERT INTO results (item_id, attempt_id, manifest_path, peaks_csv, peaks, cutoff, "
            "best_z, correlations, seconds, manifest_json, stored) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(result.item_id)
      .bind(result.attempt_id)
      .bind(result.manifest_path)
      .bind(result.peaks_csv)
      .bind(result.peaks)
      .bind(result.cutoff)
      .bind(result.best_z)
      .bind(result.correlations)
      .bind(result.seconds)
      .bind(result.manifest_json)
      .bind(result.stored)
      .run();
}

std::optional<Result> ResultStore::find(int64_t item_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement row(database_.connection(),
                "SELECT item_id, attempt_id, manifest_path, peaks_csv, peaks, cutoff, best_z, "
                "correlations, seconds, manifest_json, stored FROM results WHERE item_id = ?");
  row.bind(item_id);
  if (!row.step()) return std::nullopt;
  Result result;
  result.item_id = row.integer(0);
  result.attempt_id = row.integer(1);
  result.manifest_path = row.text(2);
  result.peaks_csv = row.text(3);
  result.peaks = row.integer(4);
  result.cutoff = row.real(5);
  result.best_z = row.real(6);
  result.correlations = row.integer(7);
  result.seconds = row.real(8);
  result.manifest_json = row.text(9);
  result.stored = row.integer(10);
  return result;
}

}  // namespace db
