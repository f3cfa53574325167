#include "scheduler/cli/daemon_commands.h"

#include <fstream>
#include <ostream>
#include <thread>

namespace scheduler::cli {
namespace {

using nlohmann::json;

std::string ago(const json& status, const std::string& key) {
  const auto time = status.at(key).get<int64_t>();
  if (time == 0) return "never";
  return duration_text(static_cast<double>(status.at("now").get<int64_t>() - time)) + " ago";
}

std::string counts_text(const json& items) {
  std::string text;
  for (const char* state :
       {"ACTIVE", "PLANNED", "QUEUED", "HELD", "DONE", "FAILED", "QUARANTINED", "CANCELLED"}) {
    const auto count = items.value(state, int64_t{0});
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + state;
  }
  return text.empty() ? "none yet" : text;
}

// A round that takes longer waits for the cluster.
constexpr int64_t kLongRound = 5;

// Seconds since the last round ended.
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
  if (!text_of(status, "lane_hold").empty()) return {"HELD", style::kYellow};
  if (!text_of(status, "problem").empty()) return {"TROUBLE", style::kRed};
  if (silence_of(status) > kLongRound) return {"waits for the cluster", style::kYellow};
  return {"well", style::kGreen};
}

std::string orphans_text(int64_t orphans) {
  if (orphans == 0) return "";
  return "; " + std::to_string(orphans) + (orphans == 1 ? " job" : " jobs") +
         " of ours that nobody owned stopped since the start";
}

std::string age_of_data(const json& status) {
  const bool nothing = status.at("last_snapshot").get<int64_t>() == 0;
  std::string text = nothing ? "the cluster has said nothing yet"
                             : "what the cluster said is from " + ago(status, "last_snapshot");
  const int64_t silence = silence_of(status);
  if (silence > kLongRound) {
    return text + "; it has not answered for " + duration_text(static_cast<double>(silence));
  }
  return text + "; last round " + ago(status, "last_tick");
}

// Its database is free only when the process has gone. One that nobody has reaped yet is gone.
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

}  // namespace

Exit status(const Context& context) {
  const json status = context.get("/v1/status");
  if (context.wants_json()) {
    context.print(status);
    return Exit::kOk;
  }
  const auto line = [&](const std::string& name, const std::string& value) {
    std::string padded = name;
    padded.resize(12, ' ');
    context.out() << context.styled(padded, style::kDim) << printable(value) << "\n";
  };
  const std::string problem = text_of(status, "problem");
  const std::string hold = text_of(status, "lane_hold");
  const Health health = health_of(status);
  context.out() << context.styled(health.word, health.style) << ": margayd "
                << status.at("version").get<std::string>() << ", process "
                << status.at("pid").get<int64_t>() << ", since "
                << time_text(status.at("since").get<int64_t>()) << "\n";
  if (!problem.empty()) line("problem", problem);
  if (status.at("degraded").get<bool>()) {
    line("", "nothing is submitted and nothing concluded until the cluster answers; jobs go on");
  }
  if (!hold.empty()) line("not started", hold);
  line("items", counts_text(status.at("items")));
  line("jobs", std::to_string(status.at("busy_slots").get<int>()) + " of " +
                   std::to_string(status.at("device_slots").get<int>()) + " at once" +
                   orphans_text(status.at("orphans").get<int64_t>()));
  if (const std::string cluster = text_of(status, "cluster"); !cluster.empty()) {
    line("cluster", cluster);
  }
  line("data", age_of_data(status));
  line("database", text_of(status, "database"));
  line("socket", context.socket());
  return Exit::kOk;
}

Exit stop(const Context& context, std::chrono::milliseconds patience) {
  const json answer = context.post("/v1/stop", json::object());
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const auto pid = answer.at("pid").get<int64_t>();
  while (answers(context) || runs(pid)) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw Failure(Exit::kTimedOut, "margayd (process " + std::to_string(pid) +
                                         ") was asked to stop and still runs; see its log");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (context.wants_json()) {
    context.print(json{{"stopped", true}, {"pid", pid}});
  } else {
    context.out() << "margayd (process " << pid
                  << ") has stopped; running jobs go on, and it finds them again\n";
  }
  return Exit::kOk;
}

}  // namespace scheduler::cli
