// Reads requests that pass files. The caller passes each file open, which proves that it may read
// it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/json.h"
#include "scheduler/commands/commands.h"
#include "scheduler/http/http_server.h"

namespace scheduler::api {

// Parses the body as a JSON object. Throws Invalid.
nlohmann::json body_of(const Request& request);
// Throws Invalid for more items than one request may have.
void check_count(size_t items, size_t most);
// A value in the body or in one of its entries. Throws Invalid when it is absent or of another
// type.
std::string required_text(const nlohmann::json& object, const std::string& key);
db::Priority priority_of(const nlohmann::json& object);

// The file that `entry` names by "path" and passes as number "file" of the request's files; its
// descriptor outlives the request. Throws Invalid.
struct PassedFile {
  std::string path{};
  Descriptor descriptor{};
};
PassedFile take_passed(const Request& request, const nlohmann::json& entry);
// Asks the file system, which may never answer. Throws Invalid unless path and descriptor are the
// same regular file, opened for reading, and the daemon can read it, too.
FileFacts facts_of(const PassedFile& file);

// The body's "options" as given; empty when absent. Throws Invalid.
ItemOptions options_of(const nlohmann::json& body, const std::string& key = "options");
// A flag in the body; false when absent. Throws Invalid.
bool flag_of(const nlohmann::json& object, const std::string& key);
// "name", or "name@version" for one version. Throws Invalid.
struct TemplateName {
  std::string name{};
  std::optional<int> version{};
};
TemplateName template_name_of(const std::string& word);
// The body's "finish_by"; nullopt when absent. Throws Invalid.
std::optional<int64_t> finish_by_of(const nlohmann::json& body);
// The requests without their files. All throw Invalid.
RetryRequest retry_request(const nlohmann::json& body);
// One `entry` of POST /v1/items, with what all entries share from `body`.
EnqueueRequest enqueue_request(const nlohmann::json& body, const nlohmann::json& entry);
// Whether the body asks only what would be done. Throws Invalid.
bool is_dry_run(const nlohmann::json& body);
TemplateRequest template_request(const nlohmann::json& body);

}  // namespace scheduler::api
