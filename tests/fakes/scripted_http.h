// A server that answers what a test scripts, broken connections included, and records what it
// was asked. Sockets by hand: a server that behaves cannot drop an answer.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tests {

struct ScriptedRequest {
  std::string method;
  std::string path;                            // with its query
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;  // counted from 1
};

struct ScriptedAnswer {
  enum class Ending {
    kWhole,
    kCut,   // half of the body, then the connection closes
    kDrop,  // the connection closes without an answer
    kHang,  // no answer as long as the server lives
  };
  int status = 200;
  std::string body{};
  std::string more_headers{};  // each line with its "\r\n"
  Ending ending = Ending::kWhole;
  const std::string* shared_body = nullptr;  // instead of `body`, without a copy
};

class ScriptedHttp {
 public:
  using Handler = std::function<ScriptedAnswer(const ScriptedRequest&)>;

  // On a free port of 127.0.0.1, or on a Unix socket at that path. The handler is called by one
  // thread at a time.
  explicit ScriptedHttp(Handler handler, const std::string& socket_path = "");
  ~ScriptedHttp();
  ScriptedHttp(const ScriptedHttp&) = delete;
  ScriptedHttp& operator=(const ScriptedHttp&) = delete;

  const std::string& url() const { return url_; }
  std::vector<ScriptedRequest> requests() const;
  // Those whose path begins so.
  std::vector<ScriptedRequest> requests(const std::string& method, const std::string& path) const;
  // What this thread did is seen by the handler after it, and the other way round.
  void settle() const { const std::lock_guard lock(mutex_); }

 private:
  void accept_all();
  void serve(int connection, int number);
  bool answer(int connection, const ScriptedRequest& request);

  Handler handler_;
  std::string url_;
  int listener_ = -1;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;
  std::vector<ScriptedRequest> requests_;
  std::vector<int> connections_;
  std::vector<std::thread> servers_;
  std::thread acceptor_;
};

// A port where nobody listens.
int closed_port();

}  // namespace tests
