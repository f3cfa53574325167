// An HTTP client. Only http.cpp includes libcurl.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "slurm/cluster_options.h"

namespace slurm {

struct HttpRequest {
  std::string method = "GET";
  std::string path;                            // from the root, with its query
  std::map<std::string, std::string> headers;  // never logged
  std::string body{};
};

struct HttpAnswer {
  enum class Ending {
    kAnswered,
    kNotSent,  // no connection: the server did not see the request
    kLost,     // the connection broke or timed out: the server may have acted on the request
  };
  Ending ending = Ending::kLost;
  int status = 0;
  std::string body;     // empty when it went to a sink
  std::string problem;  // one clause, without headers or body; empty if kAnswered
  double seconds = 0;
  std::string date{};  // the server's Date header
};

// One connection, kept open between requests and used by one thread. The constructor throws
// std::runtime_error for an unsupported kind of url.
class HttpClient {
 public:
  explicit HttpClient(HttpOptions options);

  // Blocks for the time-out at most. `sink` gets the body of an answer with status 200 in pieces;
  // any other body is in the answer. Throws std::runtime_error for a header with a control
  // character, and what `sink` throws.
  HttpAnswer ask(const HttpRequest& request,
                 const std::function<void(std::string_view)>& sink = {});

 private:
  HttpOptions options_;
  std::unique_ptr<void, void (*)(void*)> handle_;  // libcurl's, which is a void*
};

}  // namespace slurm
