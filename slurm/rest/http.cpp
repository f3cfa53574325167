#include "slurm/rest/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/text.h"

namespace slurm {
namespace {

constexpr size_t kLongestBody = size_t{64} << 20;
constexpr const char* kUnixScheme = "unix:";

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

bool has_control_character(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::iscntrl(c) != 0; });
}

// Refuses a value with a line break, which would begin another header.
HeaderList header_list(const HttpRequest& request) {
  HeaderList list;
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    (void)list.release();
    list.reset(longer);
  };
  for (const auto& [name, value] : request.headers) {
    if (has_control_character(value)) {
      throw std::runtime_error("the value of the request's header " + name +
                               " has a line break or another control character in it");
    }
    add(name + ": " + value);
  }
  add("Expect:");  // or libcurl waits a second for "100 Continue" before a large body
  return list;
}

// The state that the callbacks of one request share.
struct Transfer {
  CURL* curl = nullptr;
  HttpAnswer* answer = nullptr;
  const std::function<void(std::string_view)>* sink = nullptr;
  bool sent = false;      // a connection was there, and the request may have left
  bool too_long = false;  // the body is
  std::exception_ptr thrown{};
};

int on_connected(void* context, char*, char*, int, int) {
  static_cast<Transfer*>(context)->sent = true;
  return CURL_PREREQFUNC_OK;
}

size_t on_body(char* data, size_t, size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  // No exception may pass through libcurl.
  try {
    long status = 0;
    curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200 && *transfer.sink) {
      (*transfer.sink)({data, size});
      return size;
    }
    transfer.too_long = transfer.answer->body.size() + size > kLongestBody;
    if (transfer.too_long) return 0;
    transfer.answer->body.append(data, size);
    return size;
  } catch (...) {
    transfer.thrown = std::current_exception();
    return 0;
  }
}

size_t on_header(char* data, size_t, size_t size, void* context) {
  constexpr std::string_view kName = "date:";
  const std::string_view line(data, size);
  if (size < kName.size() || strncasecmp(data, kName.data(), kName.size()) != 0) return size;
  static_cast<Transfer*>(context)->answer->date = base::trimmed(line.substr(kName.size()));
  return size;
}

std::string seconds_of(std::chrono::milliseconds time) {
  const auto ms = time.count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

void set_target(CURL* curl, const HttpOptions& options, const std::string& path) {
  const bool local = options.url.starts_with(kUnixScheme);
  std::string root = local ? "http://localhost" : options.url;
  while (root.ends_with('/')) root.pop_back();
  if (local) {
    const std::string socket = options.url.substr(std::strlen(kUnixScheme));
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_URL, (root + path).c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  // An empty proxy silences the environment's; an empty exception list does so too.
  curl_easy_setopt(curl, CURLOPT_PROXY, options.proxy.c_str());
  curl_easy_setopt(curl, CURLOPT_NOPROXY, options.proxy.empty() ? "*" : "");
}

void set_tls(CURL* curl, const HttpOptions& options) {
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, options.verify ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, options.verify ? 2L : 0L);
  if (!options.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, options.ca_file.c_str());
  if (!options.certificate.empty()) {
    curl_easy_setopt(curl, CURLOPT_SSLCERT, options.certificate.c_str());
  }
  if (!options.key.empty()) curl_easy_setopt(curl, CURLOPT_SSLKEY, options.key.c_str());
}

void set_connection(CURL* curl, const HttpOptions& options) {
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options.connect_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options.timeout.count()));
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXCONNECTS, 1L);
}

// libcurl repeats a request by itself when a kept connection breaks, which would submit a job
// twice. So only a GET uses the kept connection.
void set_method(CURL* curl, const HttpRequest& request) {
  if (request.method == "GET") {
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    return;
  }
  curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
  if (request.method == "POST" || !request.body.empty()) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

std::string refused_connection(CURL* curl) {
  long error = 0;
  curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
  return error == 0 ? "no connection" : std::strerror(static_cast<int>(error));
}

std::string problem_of(CURLcode code, const Transfer& transfer, const HttpOptions& options,
                       const std::string& said) {
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return transfer.sent ? "no whole answer within " + seconds_of(options.timeout)
                         : "no connection within " + seconds_of(options.connect_timeout);
  }
  if (code == CURLE_COULDNT_CONNECT) return refused_connection(transfer.curl);
  if (code == CURLE_COULDNT_RESOLVE_HOST) return "its host name is not known";
  if (code == CURLE_WRITE_ERROR && transfer.too_long) return "the answer is longer than 64 MB";
  if (!transfer.sent) return said.empty() ? curl_easy_strerror(code) : said;
  if (code == CURLE_GOT_NOTHING) return "the connection was closed without an answer";
  return std::string("the connection broke before the answer was whole (") +
         curl_easy_strerror(code) + ")";
}

void start_curl() {
  // A failure leaves it to the next client to try again.
  static const bool kStarted = [] {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) return true;
    throw std::runtime_error("libcurl cannot be started");
  }();
  static_cast<void>(kStarted);
}

}  // namespace

HttpClient::HttpClient(HttpOptions options)
    : options_(std::move(options)), handle_(nullptr, curl_easy_cleanup) {
  const std::string& url = options_.url;
  const bool local = url.starts_with(kUnixScheme) && url.size() > std::strlen(kUnixScheme);
  if (!local && !url.starts_with("http://") && !url.starts_with("https://")) {
    throw std::runtime_error("\"" + url +
                             "\" is not an address of slurmrestd: write http://host:port, "
                             "https://host:port or unix:/path/of/the/socket");
  }
  start_curl();
  handle_.reset(curl_easy_init());
  if (!handle_) throw std::runtime_error("libcurl cannot make a connection handle");
}

HttpAnswer HttpClient::ask(const HttpRequest& request,
                           const std::function<void(std::string_view)>& sink) {
  const HeaderList headers = header_list(request);
  CURL* curl = handle_.get();
  HttpAnswer answer;
  Transfer transfer{.curl = curl, .answer = &answer, .sink = &sink};
  char said[CURL_ERROR_SIZE] = {};

  curl_easy_reset(curl);  // keeps the connection
  set_target(curl, options_, request.path);
  set_tls(curl, options_);
  set_connection(curl, options_);
  set_method(curl, request);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, said);
  curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, &on_connected);
  curl_easy_setopt(curl, CURLOPT_PREREQDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);

  curl_off_t microseconds = 0;
  curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &microseconds);
  answer.seconds = static_cast<double>(microseconds) / 1e6;
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  if (code == CURLE_OK) {
    answer.ending = HttpAnswer::Ending::kAnswered;
  } else {
    answer.ending = transfer.sent ? HttpAnswer::Ending::kLost : HttpAnswer::Ending::kNotSent;
    answer.problem = problem_of(code, transfer, options_, said);
  }
  return answer;
}

}  // namespace slurm
