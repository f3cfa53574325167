// HTTP/1.1 as text: a request's head, checked and limited, and a complete answer.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/http/unix_socket.h"

namespace scheduler::api {

struct Request {
  std::string method{};  // GET or POST
  std::string path{};    // decoded, without the query
  std::map<std::string, std::string> query{};
  std::string body{};
  Peer peer{};
  std::vector<Descriptor> files{};  // passed with the request, in the order sent
  bool files_lost = false;          // the kernel dropped some of them
};

struct Response {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
};

// What a request announces before its body.
struct Head {
  std::string method{};
  std::string path{};
  std::map<std::string, std::string> query{};
  size_t body_bytes = 0;
  bool wants_continue = false;  // the client waits for "100 Continue" before it sends the body
};

// Limits of the head: bytes of request line and headers together, and number of headers.
constexpr size_t kLongestHead = 16384;
constexpr size_t kMostHeaders = 64;

// A request that the handler does not get to see; the sentence says what to change.
class RequestRefused : public std::runtime_error {
 public:
  RequestRefused(int status, const std::string& sentence)
      : std::runtime_error(sentence), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// Length of the head in `bytes`, its empty line included; 0 while it is incomplete. Looks only
// beyond the first `known` bytes, which are known not to end a head. Throws RequestRefused for a
// head that is too long.
size_t head_length(std::string_view bytes, size_t known);

// `text` is a complete head. A body must come with its length, neither chunked nor compressed, so
// that it cannot be larger than announced. Throws RequestRefused.
Head parse_head(std::string_view text, size_t largest_body);

// A refusal in the form of the handler's own errors.
Response refusal(int status, const std::string& sentence);

// The complete answer as text; the connection ends after it.
std::string answer_text(Response response);

}  // namespace scheduler::api
