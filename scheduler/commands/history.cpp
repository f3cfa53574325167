#include "scheduler/commands/history.h"

#include <algorithm>
#include <tuple>

#include "db/history.h"
#include "db/measures.h"
#include "db/templates.h"
#include "scheduler/forecast/rates.h"

namespace scheduler {
namespace {

using Kind = std::tuple<int64_t, int64_t, int64_t>;  // template, width and height of the image

struct KnownKind {
  std::optional<SearchTime> time{};
  int64_t items = 0;
};

// Seconds on one GPU of what the job has searched: its time without start-up and serial part.
double searched(const db::SearchJob& job, const RuntimeModel& model) {
  if (job.started <= 0 || job.ended <= job.started) return 0;
  const Width width{.nodes = job.nodes, .gpus_per_node = std::max(1, job.gpus_per_node)};
  const double parallel =
      static_cast<double>(job.ended - job.started) - run_seconds(model, 0, width);
  return std::max(0.0, parallel) * width.gpus() / (1 + straggler_loss(model, width.gpus()));
}

bool was_given_up(db::ItemState state) {
  return state == db::ItemState::kFailed || state == db::ItemState::kCancelled ||
         state == db::ItemState::kQuarantined;
}

class HistoryReader {
 public:
  HistoryReader(db::Database& database, const std::map<std::string, double>& site_rates)
      : database_(database), site_rates_(site_rates), measures_(db::MeasureStore(database).all()) {}

  History read(const HistoryQuery& query) {
    const auto arrived = db::HistoryStore(database_).arrived(query.since, query.after, query.most);
    History history;
    if (arrived.empty()) return history;
    const bool is_full = static_cast<int64_t>(arrived.size()) == query.most;
    history.next = is_full ? arrived.back().id : 0;
    std::map<int64_t, std::vector<db::SearchJob>> jobs;
    for (const db::SearchJob& job :
         db::HistoryStore(database_).jobs(arrived.front().id, arrived.back().id)) {
      jobs[job.item_id].push_back(job);
    }
    for (const db::ArrivedItem& row : arrived) {
      if (was_given_up(row.state)) {
        ++history.left_out;
      } else {
        history.items.push_back(item_of(row, jobs[row.id]));
      }
    }
    history.model = most_common_model();
    return history;
  }

 private:
  KnownKind& kind_of(const db::ArrivedItem& row) {
    const auto [known, is_new] =
        kinds_.try_emplace({row.template_id, row.micrograph_width, row.micrograph_height});
    if (!is_new) return known->second;
    const auto search_template = db::TemplateStore(database_).find(row.template_id);
    known->second.time =
        search_time(measures_, site_rates_,
                    {.counts = search_template ? search_template->counts : db::SearchCounts(),
                     .image = {.width = row.micrograph_width, .height = row.micrograph_height}});
    return known->second;
  }

  PastItem item_of(const db::ArrivedItem& row, const std::vector<db::SearchJob>& jobs) {
    KnownKind& kind = kind_of(row);
    ++kind.items;
    PastItem item{.id = row.id,
                  .arrived = row.created,
                  .priority = row.priority,
                  .group = row.group,
                  .finish_by = row.finish_by};
    if (kind.time) item.work = kind.time->work;
    if (row.state != db::ItemState::kDone) return item;
    double took = 0;
    for (const db::SearchJob& job : jobs) {
      took += searched(job, kind.time ? kind.time->model : RuntimeModel());
    }
    if (took > 0) item.took = took;
    return item;
  }

  std::optional<RuntimeModel> most_common_model() const {
    const KnownKind* most = nullptr;
    for (const auto& [kind, known] : kinds_) {
      if (known.time && (most == nullptr || known.items > most->items)) most = &known;
    }
    return most == nullptr ? std::nullopt : std::optional(most->time->model);
  }

  db::Database& database_;
  const std::map<std::string, double>& site_rates_;
  Measures measures_;
  std::map<Kind, KnownKind> kinds_;
};

}  // namespace

History read_history(db::Database& database, const std::map<std::string, double>& site_rates,
                     const HistoryQuery& query) {
  return HistoryReader(database, site_rates).read(query);
}

}  // namespace scheduler
