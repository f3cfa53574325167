#include "slurm/rest/rest_inquiry.h"

#include <ctime>
#include <optional>

#include "slurm/rest/json.h"

namespace slurm {
namespace {

// "Tue, 11 Jun 2024 12:00:00 GMT".
std::optional<int64_t> parse_http_date(const std::string& text) {
  struct tm parts {};
  const char* end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return int64_t{timegm(&parts)};
}

std::string failure_of(const RestReply& reply) {
  return reply.why.empty() ? "an answer that is not understood" : reply.why;
}

}  // namespace

// What `parse` reads in the answer, or why there is none.
template <typename Parse>
auto RestInquiry::ask(const std::string& path, Parse parse) {
  const RestReply reply = get(path);
  using Answer = Fact<decltype(parse(reply.answer.body))>;
  return reply.ok() ? Answer{.value = parse(reply.answer.body)}
                    : Answer{.problem = failure_of(reply)};
}

Fact<int64_t> RestInquiry::controller_time() {
  const RestReply reply = get(controller_path(version_, "diag"));
  auto time = reply.ok() ? slurm::controller_time(reply.answer.body) : std::nullopt;
  if (!time) time = parse_http_date(reply.date);
  return time ? Fact<int64_t>{.value = time} : Fact<int64_t>{.problem = failure_of(reply)};
}

Fact<std::map<std::string, PartitionFacts>> RestInquiry::partitions() {
  return ask(controller_path(version_, "partitions"), parse_partitions);
}

Fact<NodeTotals> RestInquiry::nodes() {
  return ask(controller_path(version_, "nodes"), parse_node_totals);
}

void RestInquiry::ask_accounting(SiteFacts& facts) {
  if (!session_.uses_accounting()) {
    const bool off = session_.options().accounting == Accounting::kOff;
    facts.accounting_use = off ? AccountingUse::kOff : AccountingUse::kNone;
    return;
  }
  facts.accounting_use = AccountingUse::kAsked;
  facts.qos = ask(accounting_path(version_, "qos"), parse_qos);
  if (!facts.qos.value) {
    facts.accounting.problem = facts.qos.problem;
    return;
  }
  facts.accounting.value = "slurmdbd";
  facts.associations = ask(accounting_path(version_, "associations"), [&](const std::string& body) {
    return parse_associations(body, facts.user);
  });
}

}  // namespace slurm
