// Stands between margayd and a real slurmrestd, and now and then does to an answer what networks
// and servers do.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "tests/fakes/fake_http.h"

namespace tests {

enum class Lie {
  kLoseRequest,  // slurmrestd never sees it, and the connection ends
  kLoseAnswer,   // done, and the connection ends
  kCut,          // done; the JSON ends in its middle
  kLate,         // done, and answered when nobody waits any more
  kGarble,       // done; some of the answer's bytes are others
};

class LyingRest {
 public:
  // `url`: the real one's. An answer that is late comes after `late`.
  LyingRest(std::string url, std::chrono::milliseconds late);

  // http://127.0.0.1:...
  std::string url() const;
  // Plans `lie` for the next `count` requests, or submissions, that meet no earlier one.
  void plan(Lie lie, int count, bool submissions_only);
  // How many requests met a lie, and how many of them were submissions.
  int lies() const { return lies_; }
  int lies_about_submissions() const { return lies_about_submissions_; }

 private:
  FakeHttpReply answer(const FakeHttpRequest& request);
  // True: this request meets the lie.
  bool meets(bool submission, Lie& lie);

  std::string url_;
  std::chrono::milliseconds late_;
  struct Planned {
    Lie lie{};
    int left = 0;
    bool submissions_only = false;
  };
  std::mutex mutex_;
  std::deque<Planned> planned_;  // oldest first
  std::atomic<int> lies_ = 0;
  std::atomic<int> lies_about_submissions_ = 0;
  std::unique_ptr<FakeHttp> server_;
};

}  // namespace tests
