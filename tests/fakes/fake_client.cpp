#include "tests/fakes/fake_client.h"

#include <httplib.h>

namespace tests {
namespace {

constexpr int kTimeoutSeconds = 30;

}  // namespace

ClientAnswer ask(const std::string& url, const std::string& method, const std::string& path,
                 const std::multimap<std::string, std::string>& headers, const std::string& body,
                 const std::string& content_type) {
  const bool is_unix = url.starts_with("unix:");
  httplib::Client client(is_unix ? url.substr(5) : url);
  if (is_unix) client.set_address_family(AF_UNIX);
  client.set_read_timeout(kTimeoutSeconds);
  httplib::Request request;
  request.method = method;
  request.path = path;
  request.headers.insert(headers.begin(), headers.end());
  request.body = body;
  if (!body.empty() && !content_type.empty()) request.headers.emplace("Content-Type", content_type);
  const httplib::Result result = client.send(request);
  if (!result) return {};
  return {.status = result->status, .body = result->body};
}

}  // namespace tests
