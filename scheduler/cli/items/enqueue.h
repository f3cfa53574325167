// margay enqueue, and what `import` and `watch` share with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cli/items/micrographs.h"
#include "scheduler/cli/terminal/context.h"
#include "scheduler/ingest/listed.h"

namespace scheduler::cli {

struct EnqueueOptions {
  std::vector<std::string> files;
  std::string search_template;
  std::string priority = "normal";
  CtfOptions ctf;
  std::string label;
  std::string group;     // one of the user's Unix groups; empty: the primary one
  bool dry_run = false;  // check everything, enqueue nothing
  bool again = false;
  bool hold = false;
  bool wait = false;                           // wait until the items have ended
  int64_t finish_by = 0;                       // the deadline; 0: none
  std::map<std::string, std::string> options;  // sbatch's long names and values
};

// A micrograph to be enqueued, as an argument or a list names it.
struct WantedMicrograph {
  std::string path{};
  std::string place{};           // "list.star: line 12", with which messages begin; may be empty
  std::optional<db::Ctf> ctf{};  // unset: that of EnqueueOptions::ctf
  ingest::ListedOptics optics{};
  std::string refused{};  // why the list's entry cannot be used; empty: it can
};

// The body of POST /v1/items without its items, and one item without the number of its file.
nlohmann::json enqueue_body(const EnqueueOptions& options);
nlohmann::json micrograph_entry(const std::string& path, const db::Ctf& ctf,
                                const ingest::ListedOptics& optics);

// Enqueues what can be enqueued, in requests of some hundred files, and prints the outcome for
// each.
Exit enqueue_all(const Context& context, const EnqueueOptions& options,
                 const std::vector<WantedMicrograph>& micrographs);

Exit enqueue(const Context& context, const EnqueueOptions& options);

}  // namespace scheduler::cli
