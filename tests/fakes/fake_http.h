// A small HTTP server for fakes: every request goes to one function, which may also hang up
// without an answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tests {

struct FakeHttpRequest {
  std::string method;
  std::string path;
  std::string target;  // the path with its query, as it was sent
  std::multimap<std::string, std::string> query;
  std::string user;   // X-SLURM-USER-NAME
  std::string token;  // X-SLURM-USER-TOKEN
  std::string content_type;
  std::string body;
};

struct FakeHttpReply {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  bool hang_up = false;  // nothing is answered
};

class FakeHttp {
 public:
  using Handler = std::function<FakeHttpReply(const FakeHttpRequest&)>;

  // Listens on 127.0.0.1 at `port` (0: any), or at `unix_path`. Called from many threads.
  FakeHttp(int port, const std::string& unix_path, Handler handler);
  ~FakeHttp();
  FakeHttp(const FakeHttp&) = delete;
  FakeHttp& operator=(const FakeHttp&) = delete;

  int port() const;

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace tests
