// A slurmrestd that can be made to fail on purpose (fake_faults.h), over a cluster that really runs
// its jobs (fake_slurm.h). It answers as real ones were recorded to: release 22.05 speaks v0.0.38,
// 24.11 speaks v0.0.40 to v0.0.42. Its own address /fake/ lists the requests that it got and takes
// faults.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/fakes/fake_answers.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_faults.h"
#include "tests/fakes/fake_http.h"
#include "tests/fakes/fake_slurm.h"

namespace tests {

struct FakeSlurmrestdOptions {
  std::string release = "22.05";
  int port = 0;              // 0: any
  std::string unix_path{};   // instead of a port
  std::string token_file{};  // only the token in it is good; empty: any, and none on a Unix socket
  bool accounting = true;    // slurmdbd is there
  std::string faults{};
  FakeSlurmOptions cluster{};
};

// A JSON Web Token as scontrol makes them, signed by nobody. `serial` makes two of them differ.
std::string fake_token(const std::string& user, int64_t expires, int serial = 0);

class FakeSlurmrestd {
 public:
  explicit FakeSlurmrestd(FakeSlurmrestdOptions options);
  ~FakeSlurmrestd();
  FakeSlurmrestd(const FakeSlurmrestd&) = delete;
  FakeSlurmrestd& operator=(const FakeSlurmrestd&) = delete;

  std::string url() const;  // "http://127.0.0.1:port" or "unix:path"
  FakeSlurm& cluster() { return cluster_; }

  // Their clocks and counters begin now.
  void set_faults(const std::string& text);
  // Closes its address; jobs keep running.
  void go_away();
  void come_back();

  // No request is being answered, none will have its effect later, and no job is left.
  bool quiet() const;
  // What it was asked, by "GET /slurm/v0.0.38/job/{id}".
  std::map<std::string, int> requests() const;
  int asked(Asked kind) const;
  // One line for each request: what was asked, the status of the answer (0: hung up), the faults.
  std::vector<std::string> log() const;

 private:
  FakeHttpReply handle(const FakeHttpRequest& request);
  FakeHttpReply control(const FakeHttpRequest& request);
  FakeHttpReply answer(FakeCall& call);
  FakeHttpReply perform(FakeCall& call);
  FakeAnswer route(FakeCall& call);
  FakeAnswer route_accounting(const FakeCall& call);
  FakeAnswer submit(FakeCall& call);
  FakeAnswer list(const FakeCall& call);
  FakeAnswer get(const FakeCall& call);
  FakeAnswer update(const FakeCall& call);
  FakeAnswer remove(const FakeCall& call);
  FakeAnswer bad_token(const FakeCall& call) const;
  FakeAnswer without_controller(const FakeCall& call) const;
  FakeAnswer hung(const FakeCall& call) const;
  std::optional<FakeHttpReply> refuse_caller(const FakeCall& call) const;
  void happen(const FakeFault& fault);
  void sleep(std::chrono::milliseconds time) const;
  std::chrono::milliseconds since_start() const;
  void watch();

  FakeSlurmrestdOptions options_;
  FakeAnswers answers_;
  FakeSlurm cluster_;
  mutable std::mutex mutex_;
  FaultScript faults_;
  std::chrono::steady_clock::time_point faults_since_;
  int starts_before_ = 0;  // jobs that had started by then
  std::map<std::string, int> requests_;
  std::map<Asked, int> asked_;
  std::vector<std::string> log_;
  std::multimap<std::chrono::steady_clock::time_point, FakeJobRequest> late_;
  std::atomic<int> in_progress_ = 0;
  std::atomic<int64_t> shift_ = 0;  // seconds that its times are off
  std::atomic<bool> stopping_ = false;
  int port_ = 0;
  std::unique_ptr<FakeHttp> http_;
  std::thread thread_;
};

}  // namespace tests
