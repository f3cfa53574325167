#include "scheduler/cli/admin_database.h"

#include <chrono>
#include <ctime>
#include <filesystem>
#include <ostream>
#include <vector>

#include "base/size_text.h"
#include "base/text.h"
#include "db/backup.h"
#include "db/verify.h"
#include "scheduler/api/database_json.h"
#include "scheduler/config/config_reader.h"
#include "scheduler/files/restore_database.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::minutes kTimeout{30};  // a large database on a slow disk takes minutes
constexpr int kWidth = 11;

Config config_of(const DatabasePlace& place) {
  Config config;
  if (!place.config.empty()) config = read_config(place.config);
  if (!place.state.empty()) config.state = place.state;
  complete_config(config, fs::read_symlink("/proc/self/exe").parent_path().string());
  return config;
}

json ask_daemon(const Context& context, const std::string& target, const json& body) {
  try {
    return context.post(target, body, {}, kTimeout);
  } catch (const Failure& failure) {
    if (failure.exit() != Exit::kUnreachable) throw;
    throw Failure(failure.exit(),
                  std::string(failure.what()) + "; without a daemon, give its --config or --state");
  }
}

json back_up(const DatabasePlace& place, const std::string& file) {
  const std::string database = config_of(place).database();
  try {
    db::back_up(database, file);
  } catch (const db::DatabaseRefused& refused) {
    throw Failure(fs::exists(database) ? Exit::kConflict : Exit::kNotFound, refused.what());
  }
  json document = {{"bytes", fs::file_size(file)}};
  api::put_text(document, "path", file);
  api::put_text(document, "database", database);
  return document;
}

json verify(const std::string& database) {
  if (!fs::exists(database)) {
    throw Failure(Exit::kNotFound, "there is no database '" + database + "'");
  }
  return api::verification_json(db::verify_database(database));
}

std::string states_text(const json& states) {
  std::vector<std::string> parts;
  for (const auto& [state, count] : states.items()) {
    parts.push_back(std::to_string(count.get<int64_t>()) + " " + state);
  }
  return parts.empty() ? "" : " (" + base::joined(parts) + ")";
}

void print_found(const Context& context, const json& found) {
  const auto line = [&](const char* name, const std::string& value) {
    context.field(name, value, kWidth);
  };
  const auto count = [&](const char* key) { return std::to_string(found.at(key).get<int64_t>()); };
  line("database", text_of(found, "database"));
  if (found.at("schema").get<int64_t>() != 0) {
    const bool newest = found.at("schema") == found.at("newest_schema");
    line("schema", count("schema") + (newest ? "" : ", margayd has " + count("newest_schema")));
  }
  line("instance", text_of(found, "instance"));
  if (!text_of(found, "instance").empty()) {
    line("items", count("items") + states_text(found.at("item_states")));
    line("attempts", count("attempts") + ", open: " + count("open_attempts"));
    line("results", count("results"));
    line("templates", count("templates"));
  }
  for (const json& problem : found.at("problems")) {
    line("PROBLEM", text_of(problem, "says"));
    line("", "-> " + text_of(problem, "advice"));
  }
  if (found.at("problems").empty()) context.out() << "No problem was found.\n";
}

std::string numbers_text(const json& numbers) {
  constexpr size_t kShown = 20;
  std::vector<std::string> shown;
  for (const json& number : numbers) {
    if (shown.size() == kShown) {
      shown.emplace_back("...");
      break;
    }
    shown.push_back(std::to_string(number.get<int64_t>()));
  }
  return base::joined(shown);
}

void print_restored(const Context& context, const json& restored) {
  std::ostream& out = context.out();
  const auto line = [&](const std::string& text) { out << "- " << printable(text) << "\n"; };
  out << printable(text_of(restored, "copy") + " is restored as " + text_of(restored, "database"))
      << "\n";
  const std::string kept = text_of(restored, "kept");
  if (!kept.empty()) line("the database that was there is kept as " + kept);
  const std::string problem = text_of(restored, "kept_problem");
  if (!problem.empty()) line("that one could not be read whole: " + problem);
  const json& looked_up = restored.at("looked_up");
  if (!looked_up.empty()) {
    line("margayd will look up the jobs and results of " +
         base::counted(static_cast<int64_t>(looked_up.size()), "item") +
         " submitted after the copy, and submit none of them again while its job runs or has left "
         "its result: " +
         numbers_text(looked_up));
  }
  const json& unknown = restored.at("unknown_items");
  if (!unknown.empty()) {
    line("margayd will stop the jobs of " +
         base::counted(static_cast<int64_t>(unknown.size()), "item") +
         " enqueued after the copy; enqueue their micrographs again, their folders stay: " +
         numbers_text(unknown));
  }
  if (restored.at("schema") != restored.at("newest_schema")) {
    line("margayd will upgrade its schema at the start, and keep a copy as it is");
  }
  line("start margayd: what users changed after the copy is lost");
}

json document_of(const RestoreRequest& request, const Restored& restored) {
  json document = {{"schema", restored.copy.schema},
                   {"newest_schema", restored.copy.newest_schema},
                   {"items", restored.copy.items},
                   {"looked_up", restored.looked_up},
                   {"unknown_items", restored.unknown_items}};
  api::put_text(document, "copy", request.copy);
  api::put_text(document, "database", request.database);
  api::put_text(document, "kept", restored.kept);
  api::put_text(document, "kept_problem", restored.kept_problem);
  return document;
}

}  // namespace

Exit back_up_database(const Context& context, const DatabasePlace& place, const std::string& file) {
  const std::string path = fs::absolute(file).string();
  json wanted;
  api::put_text(wanted, "path", path);
  const json made =
      place.is_given() ? back_up(place, path) : ask_daemon(context, "/v1/database/backup", wanted);
  if (context.print_if_json(made)) return Exit::kOk;
  context.out() << printable(text_of(made, "database") + " copied to " + text_of(made, "path"))
                << ": " << base::size_text(made.at("bytes").get<int64_t>()) << "\n";
  return Exit::kOk;
}

Exit verify_database(const Context& context, const DatabasePlace& place, const std::string& file) {
  json found;
  if (!file.empty()) {
    found = verify(file);
  } else if (place.is_given()) {
    found = verify(config_of(place).database());
  } else {
    found = ask_daemon(context, "/v1/database/verify", json::object());
  }
  const bool good = found.at("problems").empty();
  if (!context.print_if_json(found)) print_found(context, found);
  return good ? Exit::kOk : Exit::kFailed;
}

Exit restore_database(const Context& context, const DatabasePlace& place, const std::string& file,
                      bool without_jobs) {
  if (!place.is_given()) {
    throw Failure(Exit::kUsage,
                  "which database is to be replaced? Give the daemon's --config or --state");
  }
  const Config config = config_of(place);
  const RestoreRequest request{.copy = file,
                               .database = config.database(),
                               .jobs = config.jobs(),
                               .without_jobs = without_jobs};
  try {
    const json restored = document_of(request, restore_database(request, std::time(nullptr)));
    if (!context.print_if_json(restored)) print_restored(context, restored);
    return Exit::kOk;
  } catch (const db::DatabaseHeld& held) {
    throw Failure(Exit::kConflict,
                  std::string(held.what()) + ": 'margay stop' or 'systemctl stop margayd'");
  } catch (const CopyRefused& refused) {
    if (!context.wants_json()) print_found(context, api::verification_json(refused.found()));
    throw Failure(Exit::kFailed, refused.what());
  }
}

}  // namespace scheduler::cli
