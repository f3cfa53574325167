#include "scheduler/api/records_json.h"

#include "base/words.h"
#include "scheduler/commands/job_state_text.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {
namespace {

nlohmann::json options_json(const ItemOptions& options) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : options) put_text(json, name, value);
  return json;
}

constexpr base::Words<slurm::Finding::Level, 3> kLevels = {{
    {slurm::Finding::Level::kGood, "ok"},
    {slurm::Finding::Level::kWarning, "warning"},
    {slurm::Finding::Level::kBad, "bad"},
}};

// Null: they are not known.
nlohmann::json counts_json(const db::SearchCounts& counts) {
  if (counts.engine.empty()) return nullptr;
  return {{"orientations", counts.orientations},
          {"defocus_planes", counts.defocus_planes},
          {"pixel_sizes", counts.pixel_sizes},
          {"template_size", counts.template_size},
          {"engine", counts.engine}};
}

}  // namespace

nlohmann::json ctf_json(const db::Ctf& ctf) {
  nlohmann::json json = {{"defocus_u", ctf.defocus_u},
                         {"defocus_v", ctf.defocus_v},
                         {"astigmatism_angle", ctf.astigmatism_angle},
                         {"phase_shift", ctf.phase_shift}};
  put_text(json, "source", ctf.source);
  return json;
}

std::string versioned_name(const db::Template& record) {
  return record.name + "@" + std::to_string(record.version);
}

nlohmann::json template_json(const db::Template& record) {
  nlohmann::json json = {{"name", record.name},
                         {"version", record.version},
                         {"volume_sha256", record.volume_sha256},
                         {"volume_bytes", record.volume_bytes},
                         {"search_sha256", record.search_sha256},
                         {"created", record.created},
                         {"owner_uid", record.owner_uid},
                         {"counts", counts_json(record.counts)}};
  put_text(json, "volume", record.volume_path);
  put_text(json, "search_yaml", record.search_yaml);
  put_text(json, "owner", record.owner);
  return json;
}

void put_brief(const db::Item& item, const std::string& template_name, JsonLine& line) {
  line.put("id", item.id);
  line.put("template", template_name);
  line.put("priority", db::to_string(item.priority));
  line.put("state", db::to_string(item.state));
  if (item.cancel_requested) line.put("cancel_requested", true);
  line.put("created", item.created);
  line.put("changed", item.changed);
  if (item.finish_by != 0) line.put("finish_by", item.finish_by);
  line.put_bytes("micrograph", item.micrograph_path);
  line.put_bytes("owner", item.owner);
}

void put_details(const db::Item& item, JsonLine& line) {
  if (!item.cancel_requested) line.put("cancel_requested", false);
  if (item.finish_by == 0) line.put("finish_by", int64_t{0});
  line.put("owner_uid", item.owner_uid);
  line.put_bytes("reason", item.reason);
  line.put("repeat", int64_t{item.repeat});
  line.put("ctf", ctf_json(item.ctf));
  line.put("micrograph_size", item.micrograph_bytes);
  line.put("options", options_json(item.options));
  line.put("not_before", item.not_before);
  line.put_bytes("label", item.label);
  line.put_bytes("group", item.group);
}

nlohmann::json item_json(const db::Item& item, const std::string& template_name) {
  std::string text;
  JsonLine line(text);
  put_brief(item, template_name, line);
  put_details(item, line);
  line.end();
  return nlohmann::json::parse(text);
}

nlohmann::json enqueued_json(const db::Item& item) {
  nlohmann::json json = {{"id", item.id}, {"priority", db::to_string(item.priority)}};
  put_text(json, "micrograph", item.micrograph_path);
  return json;
}

void put_late(const std::optional<int64_t>& seconds, nlohmann::json& json) {
  if (seconds) json["late_by"] = *seconds;
}

void put_expected(const std::optional<ExpectedTimes>& times, nlohmann::json& json) {
  if (!times) return;
  json["expected_start"] = times->start;
  json["expected_end"] = times->done;
}

void put_late(const std::optional<int64_t>& seconds, JsonLine& line) {
  if (seconds) line.put("late_by", *seconds);
}

void put_expected(const std::optional<ExpectedTimes>& times, JsonLine& line) {
  if (!times) return;
  line.put("expected_start", times->start);
  line.put("expected_end", times->done);
}

nlohmann::json attempt_json(const db::Attempt& attempt) {
  nlohmann::json json = {{"number", attempt.number},
                         {"token", attempt.token},
                         {"state", db::to_string(attempt.state)},
                         {"cause", attempt.cause},
                         {"shape", attempt.shape},
                         {"script_sha256", attempt.script_sha256},
                         {"config_sha256", attempt.config_sha256},
                         {"job_id", attempt.job_id},
                         {"exit_code", nullptr},
                         {"restarts", attempt.restarts},
                         {"gpus", attempt.gpus},
                         {"nodes", attempt.nodes},
                         {"gpus_per_node", attempt.gpus_per_node},
                         {"stop_asked", attempt.stop_asked},
                         {"created", attempt.created},
                         {"submitted", attempt.submitted},
                         {"started", attempt.started},
                         {"ended", attempt.ended}};
  if (attempt.exit_code) json["exit_code"] = *attempt.exit_code;
  put_text(json, "message", attempt.message);
  put_text(json, "explanation", attempt.explanation);
  put_text(json, "directory", attempt.directory);
  put_text(json, "resume_from", attempt.resume_from);
  put_text(json, "host", attempt.host);
  put_text(json, "cluster_words", attempt.cluster_words);
  put_text(json, "cluster_reason", attempt.cluster_reason);
  put_text(json, "cluster_meaning", meaning_of_reason(attempt));
  return json;
}

nlohmann::json peak_json(const PeakRow& peak) {
  return {{"x", peak.x},     {"y", peak.y},
          {"z", peak.z},     {"mip", peak.mip},
          {"phi", peak.phi}, {"theta", peak.theta},
          {"psi", peak.psi}, {"relative_defocus", peak.relative_defocus}};
}

nlohmann::json result_json(const db::Result& result) {
  nlohmann::json json = {{"peaks", result.peaks},     {"cutoff", result.cutoff},
                         {"best_z", result.best_z},   {"correlations", result.correlations},
                         {"seconds", result.seconds}, {"stored", result.stored}};
  put_text(json, "manifest", result.manifest_path);
  put_text(json, "peaks_csv", result.peaks_csv);
  return json;
}

nlohmann::json view_json(const ItemView& view) {
  nlohmann::json json = item_json(view.item, versioned_name(view.search_template));
  put_text(json, "explanation", view.explanation);
  put_late(view.late_by, json);
  put_expected(view.expected, json);
  put_text(json, "volume", view.search_template.volume_path);
  json["attempts"] = nlohmann::json::array();
  for (const db::Attempt& attempt : view.attempts) {
    json["attempts"].push_back(attempt_json(attempt));
  }
  json["result"] = view.result ? result_json(*view.result) : nlohmann::json(nullptr);
  return json;
}

nlohmann::json held_json(const DaemonStatus& status) {
  nlohmann::json held = nlohmann::json::array();
  for (const auto& [lane, why] : status.held_lanes) {
    nlohmann::json entry;
    put_text(entry, "lane", lane);
    put_text(entry, "why", why);
    held.push_back(std::move(entry));
  }
  return held;
}

nlohmann::json status_json(const DaemonStatus& status) {
  nlohmann::json json = {{"version", status.version},
                         {"pid", status.pid},
                         {"since", status.since},
                         {"now", status.now},
                         {"instance", status.instance},
                         {"device_slots", status.device_slots},
                         {"busy_slots", status.busy_slots},
                         {"ticks", status.ticks},
                         {"last_tick", status.last_tick},
                         {"last_snapshot", status.last_snapshot},
                         {"data_age", status.data_age},
                         {"plan_age", status.plan_age},
                         {"degraded", status.degraded},
                         {"orphans", status.orphans},
                         {"items", nlohmann::json::object()}};
  put_text(json, "database", status.database);
  put_text(json, "cluster", status.cluster);
  put_text(json, "problem", status.problem);
  put_text(json, "lane_hold", status.pause_reason);
  json["held_lanes"] = held_json(status);
  for (const auto& [state, count] : status.items) json["items"][db::to_string(state)] = count;
  return json;
}

nlohmann::json gc_json(const GcReport& report) {
  nlohmann::json json = {{"freed", nlohmann::json::object()}, {"left", nlohmann::json::array()}};
  for (const auto& [kind, word] : kGcKinds) {
    const auto found = report.freed.find(kind);
    const GcPart part = found == report.freed.end() ? GcPart() : found->second;
    json["freed"][word] = {{"count", part.count}, {"bytes", part.bytes}};
  }
  for (const std::string& text : report.left) {
    put_text(json["left"].emplace_back(nlohmann::json::object()), "text", text);
  }
  return json;
}

nlohmann::json finding_json(const slurm::Finding& finding) {
  nlohmann::json json = {{"level", base::word_of(kLevels, finding.level)}};
  put_text(json, "subject", finding.subject);
  put_text(json, "says", finding.says);
  put_text(json, "advice", finding.advice);
  return json;
}

slurm::Finding finding_of(const nlohmann::json& json) {
  return {.level = base::value_of(kLevels, json.at("level").get<std::string>())
                       .value_or(slurm::Finding::Level::kBad),
          .subject = get_text(json, "subject").value_or(""),
          .says = get_text(json, "says").value_or(""),
          .advice = get_text(json, "advice").value_or("")};
}

}  // namespace scheduler::api
