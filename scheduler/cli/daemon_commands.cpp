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
  const bool well = problem.empty() && hold.empty();
  context.out() << context.styled(well ? "well" : "DEGRADED", well ? style::kGreen : style::kRed)
                << ": margayd " << status.at("version").get<std::string>() << ", process "
                << status.at("pid").get<int64_t>() << ", since "
                << time_text(status.at("since").get<int64_t>()) << "\n";
  if (!problem.empty()) line("problem", problem);
  if (!hold.empty()) line("not started", hold);
  line("items", counts_text(status.at("items")));
  line("devices", std::to_string(status.at("busy_slots").get<int>()) + " of " +
                      std::to_string(status.at("device_slots").get<int>()) + " busy");
  line("cluster", text_of(status, "cluster"));
  line("data", "cluster asked " + ago(status, "last_snapshot") + ", last round " +
                   ago(status, "last_tick"));
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
