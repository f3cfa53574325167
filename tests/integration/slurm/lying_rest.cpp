#include "tests/integration/slurm/lying_rest.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "slurm/rest/http.h"

namespace tests {
namespace {

FakeHttpReply forward(const std::string& url, const FakeHttpRequest& request) {
  slurm::HttpRequest sent{.method = request.method, .path = request.target, .body = request.body};
  if (!request.user.empty()) sent.headers["X-SLURM-USER-NAME"] = request.user;
  if (!request.token.empty()) sent.headers["X-SLURM-USER-TOKEN"] = request.token;
  if (!request.content_type.empty()) sent.headers["Content-Type"] = request.content_type;
  const slurm::HttpAnswer answer =
      slurm::HttpClient({.url = url, .timeout = std::chrono::seconds(60)}).ask(sent);
  if (answer.ending != slurm::HttpAnswer::Ending::kAnswered) return {.hang_up = true};
  return {.status = answer.status, .body = answer.body};
}

std::string garbled(std::string body) {
  for (size_t at = body.size() / 3; at < body.size(); at += 97) body[at] = static_cast<char>(0xC3);
  return body;
}

}  // namespace

LyingRest::LyingRest(std::string url, std::chrono::milliseconds late)
    : url_(std::move(url)),
      late_(late),
      server_(std::make_unique<FakeHttp>(
          0, "", [this](const FakeHttpRequest& request) { return answer(request); })) {}

std::string LyingRest::url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }

void LyingRest::plan(Lie lie, int count, bool submissions_only) {
  const std::lock_guard<std::mutex> lock(mutex_);
  planned_.push_back({.lie = lie, .left = count, .submissions_only = submissions_only});
}

bool LyingRest::meets(bool submission, Lie& lie) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto planned = std::find_if(planned_.begin(), planned_.end(), [&](const Planned& one) {
    return submission || !one.submissions_only;
  });
  if (planned == planned_.end()) return false;
  ++lies_;
  if (submission) ++lies_about_submissions_;
  lie = planned->lie;
  if (--planned->left == 0) planned_.erase(planned);
  return true;
}

FakeHttpReply LyingRest::answer(const FakeHttpRequest& request) {
  Lie lie{};
  const bool submission = request.method == "POST" && request.path.ends_with("/job/submit");
  if (!meets(submission, lie)) return forward(url_, request);
  if (lie == Lie::kLoseRequest) return {.hang_up = true};
  FakeHttpReply reply = forward(url_, request);
  switch (lie) {
    case Lie::kLoseRequest:
    case Lie::kLoseAnswer:
      reply.hang_up = true;
      break;
    case Lie::kCut:
      reply.body.resize(reply.body.size() / 2);
      break;
    case Lie::kLate:
      std::this_thread::sleep_for(late_);
      break;
    case Lie::kGarble:
      reply.body = garbled(reply.body);
      break;
  }
  return reply;
}

}  // namespace tests
