// HTTP by libcurl, which no other file includes.
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
    kNotSent,  // no connection: the server has seen nothing of it
    kLost,     // the connection broke or the time was up: the server may have done it
  };
  Ending ending = Ending::kLost;
  int status = 0;
  std::string body;     // empty when it went to a sink
  std::string problem;  // unless kAnswered: one clause, without headers or body
  double seconds = 0;
  std::string date{};  // the server's Date header
};

// One connection, kept open between requests. Of one thread. The constructor throws
// std::runtime_error for a url of another kind.
class HttpClient {
 public:
  explicit HttpClient(HttpOptions options);

  // Blocks for the time-out at most. `sink` gets the body of an answer with status 200 in pieces;
  // other bodies are kept. Throws std::runtime_error for a header with a control character, and
  // what `sink` throws.
  HttpAnswer ask(const HttpRequest& request,
                 const std::function<void(std::string_view)>& sink = {});

 private:
  HttpOptions options_;
  std::unique_ptr<void, void (*)(void*)> handle_;  // libcurl's, which is a void*
};

}  // namespace slurm
