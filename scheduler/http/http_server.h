// HTTP/1.1 over a Unix socket. The caller's identity comes from the socket, never from the request.
//
// One thread holds all connections: it reads requests and writes answers as far as each client is
// ready, and passes complete requests to a few threads, whose answers it takes back. So a client
// that sends slowly or does not read costs a descriptor and its bytes, never a thread, and both are
// limited per user. (A thread for each connection would need the same limits, hundreds of threads
// under attack, and time limits that each blocking call must keep.)
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "scheduler/http/admission.h"
#include "scheduler/http/http_message.h"
#include "scheduler/http/unix_socket.h"

namespace scheduler::api {

// Called from several threads at once; must not throw.
using Handler = std::function<Response(Request&)>;

struct ServerOptions {
  std::string socket{};
  std::string group{};  // owns the socket; empty: the process's own group
  Threads threads{};
  ServerLimits limits{};
  std::chrono::milliseconds read_timeout{10'000};   // for a complete request to arrive
  std::chrono::milliseconds write_timeout{30'000};  // for the client to read the whole answer
  std::chrono::milliseconds check_interval{2'000};  // how often a lost socket file is noticed
  std::function<std::optional<Peer>(int)> peer = peer_of;
  // Called now and then when no request is being answered and one was since the last call.
  std::function<void()> when_quiet{};
  // Returns whether a request may take long; such requests have threads of their own.
  std::function<bool(const Head&)> takes_long{};
};

// Listens from construction to destruction, on its own threads.
class HttpServer {
 public:
  HttpServer(const ServerOptions& options, Handler handler);
  // Finishes the requests that are being answered.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace scheduler::api
