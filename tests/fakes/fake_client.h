// Asks the fakes one thing at a time, for their own tests.
#pragma once

#include <map>
#include <string>

#include "base/json.h"

namespace tests {

struct ClientAnswer {
  int status = 0;  // 0: no answer
  std::string body;

  nlohmann::json json() const { return nlohmann::json::parse(body); }
};

// `url` as the fakes give theirs. `content_type` is said only with a body.
ClientAnswer ask(const std::string& url, const std::string& method, const std::string& path,
                 const std::multimap<std::string, std::string>& headers,
                 const std::string& body = "",
                 const std::string& content_type = "application/json");

}  // namespace tests
