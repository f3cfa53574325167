#include "scheduler/cli/site.h"

#include <ostream>

#include "scheduler/api/records_json.h"
#include "scheduler/cli/findings.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;
using slurm::Finding;

constexpr std::chrono::minutes kLongestExamination{10};  // a slow site takes minutes to examine

}  // namespace

Exit render(const Context& context, const std::vector<int64_t>& items,
            const RenderOptions& options) {
  if (items.empty()) throw Failure(Exit::kNotFound, "no items selected");
  if (items.size() > 1) {
    throw Failure(Exit::kUsage, "one script is printed at a time, but " +
                                    std::to_string(items.size()) + " items are selected");
  }
  const int64_t item = items.front();
  std::string target = "/v1/items/" + std::to_string(item) + "/script?";
  if (!options.shape.empty()) target += "shape=" + options.shape + "&";
  if (options.test_only) target += "test_only=1";
  const json answer = context.get(target, kLongestExamination);
  if (context.print_if_json(answer)) return Exit::kOk;
  if (options.test_only) {
    context.out() << printable_lines(text_of(answer, "test_only")) << "\n";
    return Exit::kOk;
  }
  const std::string script = text_of(answer, "script");
  context.out() << (context.screen().terminal ? printable_lines(script) : script);
  if (!answer.at("submitted").get<bool>()) {
    context.complain("attempt " + std::to_string(answer.at("attempt").get<int64_t>()) +
                     " of item " + std::to_string(item) +
                     " has not been submitted; its folder does not exist yet");
  }
  if (!answer.value("planned", true)) {
    context.complain("the plan has no width for item " + std::to_string(item) +
                     " yet: this is the script with the site's width; see margay explain " +
                     std::to_string(item));
  }
  return Exit::kOk;
}

Exit doctor(const Context& context) {
  const json answer = context.post("/v1/doctor", json::object(), {}, kLongestExamination);
  std::vector<Finding> findings;
  bool bad = false;
  for (const json& entry : answer.at("findings")) {
    findings.push_back(api::finding_of(entry));
    bad = bad || findings.back().level == Finding::Level::kBad;
  }
  if (!context.print_if_json(answer)) {
    context.out() << findings_text(findings, context.screen().columns, context.screen().colour);
  }
  return bad ? Exit::kFailed : Exit::kOk;
}

}  // namespace scheduler::cli
