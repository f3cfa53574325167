#include "scheduler/simulate/trace_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string_view>

#include "base/utf8.h"
#include "scheduler/simulate/trace.h"

namespace scheduler {
namespace {

// At least what trace_reader.h takes: a search of a moment is one, too.
std::string hours(double seconds) {
  std::ostringstream text;
  text.precision(6);
  text << std::max(kLeastWorkHours, seconds / kSecondsPerHour);
  return text.str();
}

// A YAML text between quotation marks. A byte that is no text is shown as the letter of its number.
std::string quoted(const std::string& bytes) {
  std::string text = "\"";
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = base::utf8_sequence(std::string_view(bytes).substr(i));
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", byte);
      text += escape;
      ++i;
      continue;
    }
    if (bytes[i] == '"' || bytes[i] == '\\') text += '\\';
    text += bytes.substr(i, length);
    i += length;
  }
  return text + "\"";
}

void write_site(const Recorded& recorded, std::ostringstream& out) {
  out << "site: {nodes: " << recorded.nodes << ", gpus_per_node: " << recorded.gpus_per_node
      << ", max_jobs: " << recorded.max_jobs;
  if (recorded.max_pending > 0) out << ", max_pending: " << recorded.max_pending;
  out << "}\n";
}

void write_model(const RuntimeModel& model, std::ostringstream& out) {
  out << "model:\n  serial_seconds: " << model.serial_seconds
      << "\n  start_up: {gpu: " << model.start_seconds_gpu << ", node: " << model.start_seconds_node
      << ", nodes: " << model.start_seconds_nodes << "}\n  straggler: {";
  const char* comma = "";
  for (const auto& [gpus, loss] : model.straggler_loss) {
    // A measured loss may be negative by chance.
    out << comma << gpus << ": " << std::max(0.0, loss);
    comma = ", ";
  }
  out << "}\n  sigma: " << model.sigma << "\n";
}

void write_policy(const Recorded& recorded, std::ostringstream& out) {
  if (recorded.classes.empty() && recorded.segment == 0) return;
  out << "policy:\n";
  if (recorded.segment > 0) out << "  segment: " << recorded.segment << "s\n";
  if (!recorded.classes.empty()) out << "  classes:\n";
  for (const auto& [name, values] : recorded.classes) {
    out << "    " << name << ": {";
    const char* comma = "";
    for (const auto& [key, value] : values) {
      out << comma << key << ": " << value;
      comma = ", ";
    }
    out << "}\n";
  }
}

void write_item(const RecordedItem& item, ptrdiff_t count, std::ostringstream& out) {
  out << "  - {";
  if (count > 1) out << "count: " << count << ", ";
  out << "start: " << item.arrival << "s, class: " << to_string(item.priority)
      << ", work_gpu_hours: " << hours(item.work);
  if (item.took) out << ", actual_gpu_hours: " << hours(*item.took);
  if (item.deadline_after > 0) out << ", deadline_after: " << item.deadline_after << "s";
  if (!item.group.empty()) out << ", group: " << quoted(item.group);
  out << "}\n";
}

}  // namespace

std::string trace_yaml(const Recorded& recorded) {
  std::ostringstream out;
  out << "# " << recorded.title << "\n";
  write_site(recorded, out);
  write_model(recorded.model, out);
  write_policy(recorded, out);
  out << "items:\n";
  for (auto first = recorded.items.begin(); first != recorded.items.end();) {
    const auto next = std::find_if(first, recorded.items.end(),
                                   [&](const RecordedItem& item) { return !(item == *first); });
    write_item(*first, next - first, out);
    first = next;
  }
  return out.str();
}

}  // namespace scheduler
