#include "scheduler/cli/items/enqueue.h"

#include <algorithm>
#include <ctime>
#include <future>
#include <ostream>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "scheduler/api/records_json.h"
#include "scheduler/cli/items/wait.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

// Open files sent with one request: less than the kernel's 253 and a process's usual 1024.
constexpr size_t kMicrographsAtOnce = 200;
// Lines printed for people; the rest is only counted.
constexpr int64_t kMostShown = 20;

json error_entry(const WantedMicrograph& micrograph, const Failure& failure) {
  const std::string& place = micrograph.place;
  const std::string message = (place.empty() ? "" : place + ": ") + failure.what();
  json entry = {{"error", api::error_json(kind_of(failure.exit()), message, failure.item())}};
  api::put_text(entry, "path", micrograph.path);
  return entry;
}

// What the list says of the optics, without what it does not.
json optics_json(const ingest::ListedOptics& optics) {
  json values = json::object();
  if (optics.pixel_size != 0) values["pixel_size"] = optics.pixel_size;
  if (optics.voltage != 0) values["voltage"] = optics.voltage;
  if (optics.spherical_aberration != 0) {
    values["spherical_aberration"] = optics.spherical_aberration;
  }
  return values;
}

// Whose list of micrographs somebody may take for a micrograph.
void refuse_list(const std::string& path) {
  if (!path.ends_with(".star") && !path.ends_with(".cs")) return;
  throw Failure(Exit::kFailed,
                path + " is a list of micrographs, not one: give it to 'margay import'");
}

class Enqueuer {
 public:
  Enqueuer(const Context& context, const EnqueueOptions& options)
      : context_(context), options_(options) {}

  // The files of the next request are opened while the daemon answers the last one.
  Exit run(const std::vector<WantedMicrograph>& files) {
    size_t next = 0;
    const auto open_next = [&] {
      const size_t begin = std::exchange(next, std::min(next + kMicrographsAtOnce, files.size()));
      return open_batch({files.begin() + static_cast<std::ptrdiff_t>(begin),
                         files.begin() + static_cast<std::ptrdiff_t>(next)});
    };
    Batch batch = open_next();
    while (!unreachable_) {
      auto answer = std::async(std::launch::async, [&] { return send(batch); });
      const bool last = next == files.size();
      Batch following = last ? Batch() : open_next();
      take(batch, answer);
      if (last) break;
      batch = std::move(following);
    }
    const bool waits = options_.wait && !enqueued_.empty() && !unreachable_;
    Exit waited = Exit::kOk;
    if (waits && context_.wants_json()) waited = wait_as_document();
    finish(files.size());
    if (unreachable_) return Exit::kUnreachable;
    if (waits && !context_.wants_json()) waited = wait_for_items(context_);
    return tally_.exit() == Exit::kOk ? waited : tally_.exit();
  }

 private:
  struct Batch {
    std::vector<OpenFile> open{};
    std::vector<WantedMicrograph> wanted{};  // those that are open
    json entries = json::array();
    std::vector<std::string> doubts{};  // of their CTF; empty: none
    std::vector<json> refused{};
  };

  Exit wait_for_items(const Context& context) const {
    return wait(context, {.items = enqueued_, .chosen = true});
  }

  // There is one JSON document for both, also when the daemon goes away meanwhile.
  Exit wait_as_document() {
    try {
      std::ostringstream out;
      const Exit exit = wait_for_items(context_.with(context_.screen(), out));
      waited_ = json::parse(out.str());
      return exit;
    } catch (const Failure& failure) {
      context_.complain(failure.what());
      waited_ = {{"error", api::error_json(kind_of(failure.exit()), failure.what(), 0)}};
      return failure.exit();
    }
  }

  Batch open_batch(const std::vector<WantedMicrograph>& micrographs) {
    Batch batch;
    for (const WantedMicrograph& micrograph : micrographs) {
      try {
        if (!micrograph.refused.empty()) throw Failure(Exit::kFailed, micrograph.refused);
        refuse_list(micrograph.path);
        OpenFile file = open_file(micrograph.path);
        const auto [ctf, optics] =
            micrograph.ctf
                ? ingest::CtfAndOptics{.ctf = *micrograph.ctf, .optics = micrograph.optics}
                : ctf_of(options_.ctf, micrograph.path);
        json entry = micrograph_entry(file.path, ctf, optics);
        entry["file"] = batch.open.size();
        batch.entries.push_back(std::move(entry));
        batch.doubts.push_back(doubt_of(ctf, !micrograph.ctf && options_.ctf.pattern.empty()));
        batch.open.push_back(std::move(file));
        batch.wanted.push_back(micrograph);
      } catch (const Failure& failure) {
        batch.refused.push_back(error_entry(micrograph, failure));
      }
    }
    return batch;
  }

  // The daemon's answers, one for each open file.
  json send(const Batch& batch) const {
    if (batch.open.empty()) return json::array();
    std::vector<int> descriptors;
    for (const OpenFile& file : batch.open) descriptors.push_back(file.descriptor.get());
    json body = enqueue_body(options_);
    body["items"] = batch.entries;
    body["brief"] = !context_.wants_json();
    return context_.post("/v1/items", body, descriptors).at("items");
  }

  void take(const Batch& batch, std::future<json>& answer) {
    for (const json& entry : batch.refused) refused(entry);
    try {
      const json answers = answer.get();
      for (size_t i = 0; i < answers.size(); ++i) {
        take(answers[i], batch.wanted[i], batch.doubts[i]);
      }
    } catch (const Failure& failure) {
      // A usage error concerns every file: it is reported once.
      if (failure.exit() == Exit::kUsage) throw;
      // Files of earlier requests stay enqueued and are reported; enqueueing them again is
      // harmless.
      for (const WantedMicrograph& micrograph : batch.wanted) {
        refused(error_entry(micrograph,
                            Failure(failure.exit(), micrograph.path + ": " + failure.what())));
      }
      unreachable_ = failure.exit() == Exit::kUnreachable;
    }
  }

  void take(const json& answer, const WantedMicrograph& micrograph, const std::string& doubt) {
    if (answer.contains("error")) {
      refused(error_entry(micrograph, failure_of(answer.at("error"))));
      return;
    }
    tally_.succeeded();
    if (!doubt.empty() && doubted_++ == 0) doubt_ = micrograph.path + ": " + doubt;
    const json& item = answer.at("item");
    if (!options_.dry_run) enqueued_.push_back(item.at("id").get<int64_t>());
    if (item.contains("late_by")) {
      ++late_;
      latest_ = std::max(latest_, item.at("late_by").get<int64_t>());
    }
    if (context_.wants_json()) {
      json entry = {{"item", item}};
      api::put_text(entry, "path", micrograph.path);
      entries_.push_back(std::move(entry));
    }
    if (context_.wants_json() || tally_.successes() > kMostShown) return;
    const std::string number =
        options_.dry_run ? "-" : std::to_string(item.at("id").get<int64_t>());
    table_.add({{number, style::kBold},
                {item.at("priority").get<std::string>()},
                {text_of(item, "micrograph")}});
  }

  void refused(const json& entry) {
    const Failure failure = failure_of(entry.at("error"));
    tally_.failed(failure.exit());
    if (context_.wants_json()) entries_.push_back(entry);
    if (tally_.failures() <= kMostShown) context_.complain(failure.what());
  }

  void finish(size_t files) {
    const int64_t untried = static_cast<int64_t>(files) - tally_.successes() - tally_.failures();
    json document = {{"items", entries_},
                     {"enqueued", tally_.successes()},
                     {"refused", tally_.failures()},
                     {"untried", untried},
                     {"dry_run", options_.dry_run}};
    if (!waited_.is_null()) document["wait"] = waited_;
    warn_of_ctf();
    warn_of_deadline();
    if (context_.print_if_json(document)) return;
    context_.print(table_);
    if (tally_.successes() > kMostShown) {
      context_.out() << "... and " << tally_.successes() - kMostShown << " more\n";
    }
    if (tally_.failures() > kMostShown) {
      context_.complain("... and " + std::to_string(tally_.failures() - kMostShown) +
                        " more refused");
    }
    context_.out() << tally_.successes() << (options_.dry_run ? " would be" : "") << " enqueued";
    if (tally_.failures() > 0) context_.out() << ", " << tally_.failures() << " refused";
    if (untried > 0) context_.out() << ", " << untried << " not tried";
    context_.out() << "\n";
  }

  void warn_of_ctf() const {
    if (doubted_ == 0) return;
    const std::string others =
        doubted_ == 1 ? "" : " (and " + base::counted(doubted_ - 1, "more such CTF") + ")";
    context_.complain("warning: " + doubt_ + others);
  }

  // What a new item waits for is not planned yet: this is how late it is if it starts now.
  void warn_of_deadline() const {
    if (late_ == 0) return;
    const std::string deadline = "the deadline " + time_text(options_.finish_by);
    if (options_.finish_by <= std::time(nullptr)) {
      context_.complain(
          deadline + " has already passed; set another with 'margay finish-by ITEM --time TIME'");
      return;
    }
    context_.complain("AT RISK: " + base::counted(late_, "item") + " may be done up to " +
                      duration_text(static_cast<double>(latest_)) + " after " + deadline +
                      (late_ == 1 ? " even if it starts now" : " even if they start now") +
                      "; use --priority high or urgent, which may have more GPUs, or a later "
                      "deadline ('margay finish-by ITEM --time TIME')");
  }

  const Context& context_;
  const EnqueueOptions& options_;
  std::string doubt_{};  // of the first CTF that is doubtful
  int64_t doubted_ = 0;
  int64_t late_ = 0;    // items at risk of missing their deadline
  int64_t latest_ = 0;  // seconds, of the one that misses it by the most
  Tally tally_;
  bool unreachable_ = false;
  json entries_ = json::array();  // of the JSON document
  std::vector<int64_t> enqueued_{};
  json waited_{};  // what `margay wait` prints
  Table table_{{{.title = "ITEM", .align = Align::kRight},
                {.title = "PRIORITY"},
                {.title = "MICROGRAPH", .least = 20, .cut = Cut::kStart}}};
};

}  // namespace

json enqueue_body(const EnqueueOptions& options) {
  json body = {{"template", options.search_template},
               {"priority", options.priority},
               {"again", options.again},
               {"hold", options.hold},
               {"dry_run", options.dry_run},
               {"options", options.options},
               {"finish_by", options.finish_by}};
  api::put_text(body, "label", options.label);
  api::put_text(body, "group", options.group);
  return body;
}

json micrograph_entry(const std::string& path, const db::Ctf& ctf,
                      const ingest::ListedOptics& optics) {
  json entry = {{"ctf", api::ctf_json(ctf)}, {"optics", optics_json(optics)}};
  api::put_text(entry, "path", path);
  return entry;
}

Exit enqueue_all(const Context& context, const EnqueueOptions& options,
                 const std::vector<WantedMicrograph>& micrographs) {
  return Enqueuer(context, options).run(micrographs);
}

Exit enqueue(const Context& context, const EnqueueOptions& options) {
  const std::vector<std::string> files = expand(options.files);
  check(options.ctf, files.size());
  std::vector<WantedMicrograph> micrographs;
  for (const std::string& file : files) micrographs.push_back({.path = file});
  return enqueue_all(context, options, micrographs);
}

}  // namespace scheduler::cli
