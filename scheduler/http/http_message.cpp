#include "scheduler/http/http_message.h"

#include <algorithm>
#include <optional>

#include "base/parse_number.h"
#include "base/text.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A percent sign without two digits stands for itself.
std::string decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                         hex_digit(text[i + 2]) >= 0;
    if (escaped) {
      out += static_cast<char>(16 * hex_digit(text[i + 1]) + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_blank ? ' ' : text[i];
    }
  }
  return out;
}

// What stands before and after the first `separator`, without it.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char separator) {
  const size_t at = text.find(separator);
  if (at == text.npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

void parse_target(std::string_view target, Head& head) {
  const auto [path, query] = cut(target, '?');
  head.path = decoded(path, false);
  for (std::string_view rest = query; !rest.empty();) {
    const auto [parameter, after] = cut(rest, '&');
    const auto [key, value] = cut(parameter, '=');
    if (!key.empty()) head.query[decoded(key, true)] = decoded(value, true);
    rest = after;
  }
}

void parse_request_line(std::string_view line, Head& head) {
  const auto [method, rest] = cut(line, ' ');
  const auto [target, version] = cut(rest, ' ');
  if (!target.starts_with('/') || (version != "HTTP/1.1" && version != "HTTP/1.0")) {
    throw RequestRefused(400, "not a valid request: its first line is not HTTP/1.1");
  }
  if (method != "GET" && method != "POST") {
    throw RequestRefused(400, "not a valid request: use GET or POST");
  }
  head.method = method;
  parse_target(target, head);
}

size_t body_bytes(const std::string& value, std::optional<size_t> earlier, size_t largest) {
  if (earlier || !base::is_digits(value)) {
    throw RequestRefused(400, "not a valid request: Content-Length must be one whole number");
  }
  const auto bytes = base::parse_number<size_t>(value);
  if (!bytes || *bytes > largest) {
    throw RequestRefused(413, "the request's body is larger than " + std::to_string(largest) +
                                  " bytes: divide it, or ask the administrator to raise "
                                  "limits.body in the daemon's configuration");
  }
  return *bytes;
}

void refuse_encoding(const std::string& name, const std::string& value) {
  if (base::lower(value) == "identity") return;
  if (name == "transfer-encoding") {
    throw RequestRefused(411, "send the request's body in one piece, with its Content-Length");
  }
  throw RequestRefused(415, "send the request's body uncompressed, without Content-Encoding");
}

}  // namespace

size_t head_length(std::string_view bytes, size_t known) {
  const size_t from = known < kHeadEnd.size() ? 0 : known - (kHeadEnd.size() - 1);
  const size_t end = bytes.substr(0, kLongestHead).find(kHeadEnd, from);
  if (end != bytes.npos) return end + kHeadEnd.size();
  if (bytes.size() < kLongestHead) return 0;
  throw RequestRefused(431, "the request line and headers are longer than " +
                                std::to_string(kLongestHead) + " bytes");
}

Head parse_head(std::string_view text, size_t largest_body) {
  Head head;
  std::optional<size_t> announced;
  size_t headers = 0;
  text.remove_suffix(kHeadEnd.size());
  const size_t first_end = std::min(text.find(kLineEnd), text.size());
  parse_request_line(text.substr(0, first_end), head);
  while (text.find(kLineEnd) != text.npos) {
    text.remove_prefix(text.find(kLineEnd) + kLineEnd.size());
    if (++headers > kMostHeaders) {
      throw RequestRefused(
          431, "the request has more than " + std::to_string(kMostHeaders) + " headers");
    }
    const auto [field, rest] = cut(text.substr(0, text.find(kLineEnd)), ':');
    const std::string name = base::lower(std::string(field));
    const std::string value = base::trimmed(rest, " \t");
    if (name == "content-length") announced = body_bytes(value, announced, largest_body);
    if (name == "transfer-encoding" || name == "content-encoding") refuse_encoding(name, value);
    if (name == "expect") head.wants_continue = base::lower(value) == "100-continue";
  }
  head.body_bytes = announced.value_or(0);
  return head;
}

Response refusal(int status, const std::string& sentence) {
  const bool later = status == 429 || status == 503;
  const std::string kind = status == 404 ? "not_found" : later ? "busy" : "invalid";
  const nlohmann::json body = {{"error", error_json(kind, sentence)}, {"format", 1}};
  return {.status = status, .body = body.dump()};
}

std::string answer_text(Response response) {
  const std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " +
                           reason_of(response.status) +
                           "\r\nContent-Type: " + response.content_type +
                           "\r\nContent-Length: " + std::to_string(response.body.size()) +
                           "\r\nConnection: close\r\n\r\n";
  response.body.insert(0, head);
  return std::move(response.body);
}

}  // namespace scheduler::api
