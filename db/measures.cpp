#include "db/measures.h"

#include "db/table.h"

namespace db {
namespace {

const Table<Measure> kMeasures("measures", {{"kind", &Measure::kind},
                                            {"engine", &Measure::engine},
                                            {"device", &Measure::device},
                                            {"height", &Measure::height},
                                            {"width", &Measure::width},
                                            {"template_size", &Measure::template_size},
                                            {"gpus", &Measure::gpus},
                                            {"runs", &Measure::runs},
                                            {"mean", &Measure::mean},
                                            {"squares", &Measure::squares}});

}  // namespace

std::vector<Measure> MeasureStore::all() const {
  return kMeasures.all(
      database_,
      kMeasures.readable() + "ORDER BY kind, engine, device, height, width, template_size, gpus");
}

void MeasureStore::put(const Measure& measure) {
  kMeasures.insert(database_, measure, "INSERT OR REPLACE");
}

}  // namespace db
