#include "db/results.h"

#include "db/table.h"

namespace db {
namespace {

const Table<Result> kResults("results", {{"item_id", &Result::item_id},
                                         {"attempt_id", &Result::attempt_id},
                                         {"manifest_path", &Result::manifest_path},
                                         {"peaks_csv", &Result::peaks_csv},
                                         {"peaks", &Result::peaks},
                                         {"cutoff", &Result::cutoff},
                                         {"best_z", &Result::best_z},
                                         {"correlations", &Result::correlations},
                                         {"seconds", &Result::seconds},
                                         {"manifest_json", &Result::manifest_json},
                                         {"stored", &Result::stored}});

}  // namespace

void ResultStore::insert(const Result& result) { kResults.insert(database_, result); }

std::optional<Result> ResultStore::find(int64_t item_id) const {
  return kResults.one(database_, "WHERE item_id = ?", item_id);
}

}  // namespace db
