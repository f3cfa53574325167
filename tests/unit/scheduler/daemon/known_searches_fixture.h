// The daemon with a cluster whose GPUs are known, and searches that take known times.
#pragma once

#include <cmath>
#include <cstdint>
#include <mutex>
#include <string>

#include "db/items.h"
#include "db/measures.h"
#include "db/sqlite.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {

// Four idle nodes with four GPUs each; a search takes 16 hours on one.
class KnownSearchesFixture : public SlurmFixture {
 protected:
  KnownSearchesFixture() {
    slurm::ClusterFacts& facts = cluster_.cluster_facts;
    facts.complete = true;
    facts.site.now = clock_.now();
    facts.site.partitions.value = {{"main", {.state = "UP", .is_default = true}}};
    facts.site.nodes.value.emplace();
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      facts.site.nodes.value->each.push_back(
          {.name = name, .partitions = {"main"}, .cpus = 16, .gpus = 4});
    }
    config_.policy.widths = WidthsBy::kChosen;
    restart();
    know_searches();
  }
  // What the engine counts of the templates, and what a finished search has measured.
  void know_searches() {
    {
      const std::scoped_lock lock(database_->mutex());
      database_->connection().execute(
          "UPDATE templates SET counted_by = '1', orientations = 16000, defocus_planes = 36, "
          "pixel_sizes = 1, template_size = 128");
    }
    measured(3);
    cluster_.facts_asked = 0;
    restart();
  }
  // So many searches of 16 GPU hours have been measured, all of the same rate; for a daemon that is
  // started again.
  void measured(int64_t runs) {
    db::MeasureStore(*database_)
        .put({.kind = db::MeasureKind::kRate,
              .engine = "1",
              .device = "H200",
              .height = 4096,
              .width = 4096,
              .template_size = 128,
              .runs = runs,
              .mean = std::log(10.0)});
  }
  int64_t enqueue_known(const std::string& name, db::Priority priority) {
    const auto id = enqueue(name, priority).id;
    db::Item known = item(id);
    known.micrograph_size = {.width = 4096, .height = 4096, .pixel_size = 1.0};
    db::ItemStore(*database_).update(known);
    return id;
  }
};

}  // namespace scheduler
