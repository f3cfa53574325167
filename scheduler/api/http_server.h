// HTTP/1.1 over a Unix socket. The caller's identity comes from the socket, never from the request.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/api/unix_socket.h"

namespace scheduler::api {

struct Request {
  std::string method{};  // GET or POST
  std::string path{};    // decoded, without the query
  std::map<std::string, std::string> query{};
  std::string body{};
  Peer peer{};
  std::vector<Descriptor> files{};  // passed along, in the order sent
  bool files_lost = false;          // some were dropped on the way
};

struct Response {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
};

// Called from several threads at once; must not throw.
using Handler = std::function<Response(Request&)>;

struct ServerOptions {
  std::string socket{};
  std::string group{};  // owns the socket; empty: the process's own group
  int threads = 8;
  std::chrono::seconds read_timeout{5};
};

// Listens from construction to destruction, on its own threads.
class HttpServer {
 public:
  HttpServer(const ServerOptions& options, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace scheduler::api
