// Records of the database as the API's JSON. Times are seconds since the epoch (UTC), 0 = not yet.
#pragma once

#include "base/json.h"
#include "scheduler/api/json_line.h"
#include "scheduler/api/peaks.h"
#include "scheduler/commands/commands.h"
#include "scheduler/daemon/daemon_status.h"
#include "scheduler/results/housekeeper.h"
#include "slurm/cluster.h"

namespace scheduler::api {

nlohmann::json ctf_json(const db::Ctf& ctf);
nlohmann::json template_json(const db::Template& record);
// Sets "late_by", the seconds by which an item may miss its deadline, if it is at risk.
void put_late(const std::optional<int64_t>& seconds, nlohmann::json& json);
void put_late(const std::optional<int64_t>& seconds, JsonLine& line);
// Sets "expected_start" and "expected_end" of an item, if known.
void put_expected(const std::optional<ExpectedTimes>& times, nlohmann::json& json);
void put_expected(const std::optional<ExpectedTimes>& times, JsonLine& line);
// `template_name` is "name@version".
nlohmann::json item_json(const db::Item& item, const std::string& template_name);
// A new item in the brief form of the answer to a request with many files.
nlohmann::json enqueued_json(const db::Item& item);
// put_brief() writes the fields that a list for people shows, put_details() the other fields of
// item_json().
void put_brief(const db::Item& item, const std::string& template_name, JsonLine& line);
void put_details(const db::Item& item, JsonLine& line);
nlohmann::json attempt_json(const db::Attempt& attempt);
nlohmann::json peak_json(const PeakRow& peak);
nlohmann::json result_json(const db::Result& result);
nlohmann::json view_json(const ItemView& view);
// The lanes for which no jobs are submitted, each with the reason.
nlohmann::json held_json(const DaemonStatus& status);
nlohmann::json status_json(const DaemonStatus& status);
// "level" is ok, warning or bad.
nlohmann::json gc_json(const GcReport& report);
nlohmann::json finding_json(const slurm::Finding& finding);
slurm::Finding finding_of(const nlohmann::json& json);

std::string versioned_name(const db::Template& record);

}  // namespace scheduler::api
