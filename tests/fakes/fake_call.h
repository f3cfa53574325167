// A request to the fake slurmrestd, and the faults that it meets.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/fakes/fake_faults.h"
#include "tests/fakes/fake_http.h"

namespace tests {

// One request, taken apart.
struct FakeCall {
  const FakeHttpRequest& request;
  std::string service;  // "slurm" or "slurmdb"
  std::string version;
  std::string what;  // "jobs", "job", "job/submit", "ping" ...
  std::string id;    // of a job
  Asked kind = Asked::kAny;
  std::vector<FakeFault> faults{};

  bool meets(Mishap mishap) const { return fault_of(mishap) != nullptr; }
  std::string pattern() const {
    return request.method + " /" + service + "/" + version + "/" + what +
           (id.empty() ? "" : "/{id}");
  }

  explicit FakeCall(const FakeHttpRequest& asked) : request(asked) {
    std::vector<std::string> parts;
    for (size_t at = 0; at < asked.path.size();) {
      const size_t end = std::min(asked.path.find('/', at + 1), asked.path.size());
      parts.push_back(asked.path.substr(at + 1, end - at - 1));
      at = end;
    }
    parts.resize(std::max<size_t>(parts.size(), 4));
    service = parts[0];
    version = parts[1];
    what = parts[2];
    if (what == "job" && parts[3] == "submit") {
      what = "job/submit";
    } else {
      id = parts[3];
    }
    kind = kind_of();
  }

  const FakeFault* fault_of(Mishap mishap) const {
    const auto found = std::find_if(faults.begin(), faults.end(), [mishap](const FakeFault& fault) {
      return fault.what == mishap;
    });
    return found == faults.end() ? nullptr : &*found;
  }

  Asked kind_of() const {
    if (service == "slurmdb") return Asked::kAccounting;
    if (what == "job/submit") return Asked::kSubmit;
    if (what == "jobs") return Asked::kList;
    if (what == "ping") return Asked::kPing;
    if (what != "job") return Asked::kAny;
    if (request.method == "DELETE") return Asked::kDelete;
    return request.method == "POST" ? Asked::kUpdate : Asked::kGet;
  }
};

}  // namespace tests
