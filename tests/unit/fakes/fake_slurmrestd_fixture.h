// A fake slurmrestd in a scratch folder, and what its tests ask of it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tests/fakes/fake_client.h"
#include "tests/fakes/fake_slurmrestd.h"
#include "tests/scratch_folder.h"

namespace tests {

inline constexpr const char* kGoodToken = "the.good.token";

inline bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class FakeSlurmrestdTest : public ::testing::Test {
 protected:
  FakeSlurmrestdTest() { scratch_.write("token", std::string(kGoodToken) + "\n"); }

  FakeSlurmrestd& start(const std::string& faults = "", FakeSlurmrestdOptions options = {}) {
    options.cluster.folder = scratch_ / "cluster";
    options.cluster.kill_wait = std::chrono::milliseconds(200);
    options.token_file = scratch_ / "token";
    options.faults = faults;
    version_ = options.release == "22.05" ? "v0.0.38" : "v0.0.42";
    fake_ = std::make_unique<FakeSlurmrestd>(options);
    return *fake_;
  }

  ClientAnswer call(const std::string& method, const std::string& path,
                    const std::string& body = "") const {
    return ask(fake_->url(), method, path,
               {{"X-SLURM-USER-NAME", "alice"}, {"X-SLURM-USER-TOKEN", kGoodToken}}, body);
  }
  std::string at(const std::string& what) const { return "/slurm/" + version_ + "/" + what; }

  nlohmann::json body_of(const std::string& name, const std::string& script,
                         const nlohmann::json& more = {}) const {
    nlohmann::json job = {{"name", name},
                          {"current_working_directory", scratch_.path()},
                          {"standard_output", scratch_ / (name + ".log")}};
    if (version_ == "v0.0.38") {
      job["environment"] = {{"MINE", "yes"}};
    } else {
      job["environment"] = {"MINE=yes"};
    }
    if (more.is_object()) job.update(more);
    return {{"script", "#!/bin/bash\n" + script + "\n"}, {"job", job}};
  }
  ClientAnswer submit(const std::string& name, const std::string& script,
                      const nlohmann::json& more = {}) const {
    return call("POST", at("job/submit"), body_of(name, script, more).dump());
  }
  std::string id_of(const ClientAnswer& answer) const {
    return std::to_string(answer.json().at("job_id").get<int>());
  }
  nlohmann::json job(const std::string& id) const {
    return call("GET", at("job/" + id)).json().at("jobs").at(0);
  }
  nlohmann::json jobs() const { return call("GET", at("jobs")).json().at("jobs"); }
  bool becomes(const std::string& id, const std::string& state) const {
    return becomes_true([&] { return job(id).at("job_state") == state; });
  }
  std::string log_of(const std::string& name) const { return text_of(scratch_ / (name + ".log")); }

  ScratchFolder scratch_;
  std::string version_;
  std::unique_ptr<FakeSlurmrestd> fake_;
};

}  // namespace tests
