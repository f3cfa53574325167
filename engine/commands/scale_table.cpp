#include "engine/commands/scale_table.h"

#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "engine/io/format.h"

namespace engine {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

int64_t ScaleRow::smallest() const {
  return *std::min_element(correlations.begin(), correlations.end());
}

int64_t ScaleRow::largest() const {
  return *std::max_element(correlations.begin(), correlations.end());
}

std::string scale_text(const ScaleTable& table) {
  const bool several = std::any_of(table.rows.begin(), table.rows.end(),
                                   [](const ScaleRow& row) { return row.nodes > 1; });
  std::ostringstream text;
  text << table.search << "\n"
       << table.device << ", " << table.backend << ", " << base::counted(table.threads, "thread")
       << " in every rank\n\n"
       << "ranks" << (several ? "  nodes" : "")
       << "   seconds  speed-up  efficiency  correlations/s  correlations of a rank\n";
  for (const ScaleRow& row : table.rows) {
    text << format("%5d", row.ranks) << (several ? format("  %5d", row.nodes) : "")
         << format(" %9.2f %9.2f %9.1f %% %15.1f  ", row.seconds, table.speed_up(row),
                   100 * table.efficiency(row), table.rate(row))
         << base::grouped_number(row.smallest()) << " to " << base::grouped_number(row.largest())
         << format(" (%.1f to %.1f %%)\n", 100 * table.share(row.smallest()),
                   100 * table.share(row.largest()));
  }
  return text.str();
}

std::string scale_csv(const ScaleTable& table) {
  std::ostringstream text;
  text << "ranks,nodes,threads_per_rank,seconds,speed_up,efficiency,correlations_per_second,"
          "correlations,smallest_of_a_rank,largest_of_a_rank\n";
  for (const ScaleRow& row : table.rows) {
    text << row.ranks << ',' << row.nodes << ',' << table.threads << ',' << row.seconds << ','
         << table.speed_up(row) << ',' << table.efficiency(row) << ',' << table.rate(row) << ','
         << table.correlations << ',' << row.smallest() << ',' << row.largest() << '\n';
  }
  return text.str();
}

std::string scale_json(const ScaleTable& table) {
  Json rows = Json::array();
  for (const ScaleRow& row : table.rows) {
    rows.push_back({{"ranks", row.ranks},
                    {"nodes", row.nodes},
                    {"seconds", row.seconds},
                    {"speed_up", table.speed_up(row)},
                    {"efficiency", table.efficiency(row)},
                    {"correlations_per_second", table.rate(row)},
                    {"correlations_of_ranks", row.correlations}});
  }
  const Json json = {
      {"search", table.search}, {"correlations", table.correlations}, {"backend", table.backend},
      {"device", table.device}, {"threads_per_rank", table.threads},  {"rows", rows}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string scale_doubt(const ScaleTable& table) {
  // Caches that hold each rank's smaller share explain a little.
  constexpr double kExplained = 1.1;
  const auto best = std::max_element(table.rows.begin(), table.rows.end(),
                                     [&](const ScaleRow& one, const ScaleRow& other) {
                                       return table.efficiency(one) < table.efficiency(other);
                                     });
  if (table.efficiency(*best) <= kExplained) return "";
  return base::counted(best->ranks, "rank") + " had an efficiency of " +
         format("%.1f %%", 100 * table.efficiency(*best)) +
         ": the run with 1 rank was probably slowed down, by other programs or a slower node; "
         "measure again on equal machines without other work";
}

}  // namespace engine
