#include "db/pauses.h"

#include "db/table.h"

namespace db {
namespace {

const Table<Pause> kPauses("pauses", {{"id", &Pause::id},
                                      {"uid", &Pause::uid},
                                      {"who", &Pause::who},
                                      {"reason", &Pause::reason},
                                      {"since", &Pause::since}});

}  // namespace

void PauseStore::set(const Pause& pause) { kPauses.insert(database_, pause, "INSERT OR REPLACE"); }

bool PauseStore::clear() {
  const std::scoped_lock lock(database_.mutex());
  database_.connection().execute("DELETE FROM pauses");
  return database_.connection().changes() > 0;
}

std::optional<Pause> PauseStore::find() const { return kPauses.one(database_, ""); }

}  // namespace db
