#include "scheduler/cli/daemon_commands.h"

#include <fstream>
#include <ostream>
#include <thread>

#include "base/text.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

// The time since then.
std::string age_of(const json& status, const std::string& key) {
  const auto time = status.at(key).get<int64_t>();
  return duration_text(static_cast<double>(status.at("now").get<int64_t>() - time));
}

std::string counts_text(const json& items) {
  std::string text;
  for (const char* state :
       {"ACTIVE", "QUEUED", "HELD", "DONE", "FAILED", "QUARANTINED", "CANCELLED"}) {
    const auto count = items.value(state, int64_t{0});
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  }
  return text.empty() ? "none yet" : text;
}

// Seconds; a tick that takes longer is waiting for the cluster.
constexpr int64_t kLongTick = 5;

// Seconds since the last tick ended.
int64_t silence_of(const json& status) {
  const auto last_tick = status.at("last_tick").get<int64_t>();
  return status.at("now").get<int64_t>() -
         (last_tick != 0 ? last_tick : status.at("since").get<int64_t>());
}

struct Health {
  const char* word;
  const char* style;
};

Health health_of(const json& status) {
  if (status.at("degraded").get<bool>()) return {"DEGRADED", style::kRed};
  if (!text_of(status, "lane_hold").empty()) return {"PAUSED", style::kYellow};
  if (!text_of(status, "problem").empty()) return {"PROBLEM", style::kRed};
  if (silence_of(status) > kLongTick) return {"waiting for the cluster", style::kYellow};
  return {"running", style::kGreen};
}

// "expected to be done 2026-11-26 18:05:00, in 3 h 20 min; when 4 items are done is not known";
// empty without items that wait or run.
std::string queue_text(const json& status) {
  const auto done = status.at("expected_end").get<int64_t>();
  const auto unknown = status.at("expected_unknown").get<int64_t>();
  std::string text;
  if (done > 0) {
    const int64_t left = done - status.at("now").get<int64_t>();
    text = "expected to be done " + time_text(done) + ", in " +
           duration_text(static_cast<double>(left));
  }
  if (unknown == 0) return text;
  return text + (text.empty() ? "when " : "; when ") + base::counted(unknown, "item") +
         (unknown == 1 ? " is" : " are") + " done is not known";
}

std::string orphans_text(int64_t orphans) {
  if (orphans == 0) return "";
  return "; " + std::to_string(orphans) + (orphans == 1 ? " orphaned job" : " orphaned jobs") +
         " stopped since start";
}

std::string age_of_data(const json& status) {
  const bool nothing = status.at("last_snapshot").get<int64_t>() == 0;
  std::string text = nothing ? "no answer from the cluster yet"
                             : "cluster state " + age_of(status, "last_snapshot") + " old";
  const int64_t silence = silence_of(status);
  if (silence > kLongTick) {
    text += "; no answer for " + duration_text(static_cast<double>(silence));
  }
  return text;
}

// The database is free only once the process is gone; a zombie has released it.
bool runs(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  return text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

bool answers(const Context& context) {
  try {
    context.get("/v1/status");
    return true;
  } catch (const Failure& failure) {
    if (failure.exit() != Exit::kUnreachable) throw;
    return false;
  }
}

json lane_body(const LaneOptions& lane) {
  json body = json::object();
  for (const auto& [option, value] : lane) {
    if (!value.empty()) body["lane"][option] = value;
  }
  return body;
}

// " --partition gpu"
std::string lane_arguments(const LaneOptions& lane) {
  std::string arguments;
  for (const auto& [option, value] : lane) {
    if (!value.empty()) arguments += " --" + option + " " + value;
  }
  return arguments;
}

std::string urgent_text(const json& who) {
  const std::string allowed = text_of(who, "urgent_allowed");
  const bool by_token = !who.at("urgent_tokens").empty();
  if (!who.at("urgent").get<bool>()) {
    return by_token ? "no token left: only " + allowed + " may make items urgent without one"
                    : "no: only " + allowed + " may make items urgent";
  }
  return by_token ? "yes, with a token for each item" : "yes: may make items urgent";
}

// "group cryoem: 3 of 5 tokens left, one more on 2026-11-27 07:00:00"
std::string tokens_text(const json& tokens) {
  const auto next = tokens.at("next").get<int64_t>();
  return "group " + text_of(tokens, "group") + ": " + std::to_string(tokens.at("left").get<int>()) +
         " of " + base::counted(tokens.at("of_week").get<int64_t>(), "token") + " left" +
         (next == 0 ? "" : ", one more on " + time_text(next));
}

}  // namespace

Exit status(const Context& context) {
  const json status = context.get("/v1/status");
  if (context.print_if_json(status)) return Exit::kOk;
  const auto line = [&](const std::string& name, const std::string& value) {
    context.field(name, value, 12);
  };
  const Health health = health_of(status);
  context.out() << context.styled(health.word, health.style) << ": margayd "
                << status.at("version").get<std::string>() << " (pid "
                << status.at("pid").get<int64_t>() << "), since "
                << time_text(status.at("since").get<int64_t>()) << "\n";
  line("problem", text_of(status, "problem"));
  if (status.at("degraded").get<bool>()) {
    line("", "nothing is submitted or concluded until the cluster answers; running jobs continue");
  }
  line("paused", text_of(status, "lane_hold"));
  for (const json& held : status.at("held_lanes")) line("held", text_of(held, "why"));
  line("items", counts_text(status.at("items")));
  line("queue", queue_text(status));
  line("jobs", std::to_string(status.at("busy_slots").get<int>()) + " of " +
                   std::to_string(status.at("device_slots").get<int>()) + " at once" +
                   orphans_text(status.at("orphans").get<int64_t>()));
  line("cluster", text_of(status, "cluster"));
  line("data", age_of_data(status));
  const auto plan_age = status.at("plan_age").get<int64_t>();
  if (plan_age > kLongTick) {
    line("plan", duration_text(static_cast<double>(plan_age)) + " old; waiting for the cluster");
  }
  line("database", text_of(status, "database"));
  line("socket", context.socket());
  return Exit::kOk;
}

Exit whoami(const Context& context) {
  const json who = context.get("/v1/whoami");
  if (context.print_if_json(who)) return Exit::kOk;
  const auto line = [&](const std::string& name, const std::string& value) {
    context.field(name, value, 10);
  };
  line("user",
       text_of(who, "user") + " (uid " + std::to_string(who.at("uid").get<int64_t>()) + ")");
  std::vector<std::string> groups;
  for (const json& group : who.at("groups")) groups.push_back(group.get<std::string>());
  line("groups", base::joined(groups, ", "));
  line("operator", who.at("operator").get<bool>()
                       ? "yes: may change all items, pause submissions and stop the daemon"
                       : "no: may change only this user's own items");
  line("group", text_of(who, "group") + ", for which items count unless enqueued with --group");
  line("urgent", urgent_text(who));
  for (const json& tokens : who.at("urgent_tokens")) line("", tokens_text(tokens));
  return Exit::kOk;
}

Exit pause(const Context& context, const std::string& reason, const LaneOptions& lane) {
  json body = lane_body(lane);
  api::put_text(body, "reason", reason);
  const json answer = context.post("/v1/pause", body);
  if (context.print_if_json(answer)) return Exit::kOk;
  const std::string arguments = lane_arguments(lane);
  context.out() << "Paused: no job" << (arguments.empty() ? "" : " with" + arguments)
                << " is submitted until 'margay resume" << arguments
                << "'. Submitted jobs continue, and items can be enqueued.\n";
  return Exit::kOk;
}

Exit resume(const Context& context, const LaneOptions& lane) {
  const json answer = context.post("/v1/resume", lane_body(lane));
  if (context.print_if_json(answer)) return Exit::kOk;
  const std::string arguments = lane_arguments(lane);
  if (answer.at("was_paused").get<bool>()) {
    context.out() << "Resumed: jobs" << (arguments.empty() ? "" : " with" + arguments)
                  << " are submitted again.\n";
  } else {
    context.out() << (arguments.empty() ? "The queue as a whole was not paused"
                                        : "Nothing was paused with" + arguments)
                  << ".\n";
  }
  for (const json& held : answer.at("held_lanes")) {
    context.field("held", text_of(held, "why"), 12);
  }
  return Exit::kOk;
}

Exit stop(const Context& context, std::chrono::milliseconds timeout) {
  const json answer = context.post("/v1/stop", json::object());
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto pid = answer.at("pid").get<int64_t>();
  while (answers(context) || runs(pid)) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw Failure(Exit::kTimedOut, "margayd (pid " + std::to_string(pid) +
                                         ") was asked to stop and is still running; see its log");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (context.print_if_json({{"stopped", true}, {"pid", pid}})) return Exit::kOk;
  context.out() << "margayd (pid " << pid
                << ") has stopped. Running jobs continue and are picked up at the next start.\n";
  return Exit::kOk;
}

}  // namespace scheduler::cli
