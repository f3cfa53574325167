#include "db/pauses.h"

#include "db/items.h"
#include "db/table.h"

namespace db {
namespace {

const Table<Pause> kPauses("pauses", {{"id", &Pause::id},
                                      {"uid", &Pause::uid},
                                      {"who", &Pause::who},
                                      {"reason", &Pause::reason},
                                      {"since", &Pause::since}});

const Table<LanePause> kLanePauses(
    "lane_pauses",
    {Column<LanePause>(
         "place", [](const LanePause& pause) { return options_text(pause.place); },
         [](const std::string& text, LanePause& pause) { pause.place = parse_options(text); },
         Use::kFixed),
     {"uid", &LanePause::uid},
     {"who", &LanePause::who},
     {"reason", &LanePause::reason},
     {"since", &LanePause::since}});

}  // namespace

void PauseStore::set(const Pause& pause) { kPauses.insert(database_, pause, "INSERT OR REPLACE"); }

bool PauseStore::clear() {
  const std::scoped_lock lock(database_.mutex());
  database_.connection().execute("DELETE FROM pauses");
  return database_.connection().changes() > 0;
}

std::optional<Pause> PauseStore::find() const { return kPauses.one(database_, ""); }

void PauseStore::set_lane(const LanePause& pause) {
  kLanePauses.insert(database_, pause, "INSERT OR REPLACE");
}

bool PauseStore::clear_lane(const std::map<std::string, std::string>& place) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(), "DELETE FROM lane_pauses WHERE place = ?")
      .bind(options_text(place))
      .run();
  return database_.connection().changes() > 0;
}

std::vector<LanePause> PauseStore::lanes() const {
  return kLanePauses.all(database_, "ORDER BY place");
}

}  // namespace db
