// Requests that pass files.
#pragma once

#include <fcntl.h>

#include <string>

#include "scheduler/http/unix_socket.h"
#include "tests/unit/scheduler/api/api_fixture.h"

namespace scheduler {

class ApiTest : public ApiFixture {
 protected:
  static api::Descriptor open_file(const std::string& path, int flags = O_RDONLY) {
    return api::Descriptor(::open(path.c_str(), flags | O_CLOEXEC));
  }

  static nlohmann::json entry(const std::string& path, size_t file = 0) {
    return {{"path", path},
            {"file", file},
            {"ctf",
             {{"defocus_u", 10200},
              {"defocus_v", 9800},
              {"astigmatism_angle", 35},
              {"phase_shift", 0}}}};
  }

  static nlohmann::json enqueue_body(const nlohmann::json& entries) {
    return {{"template", "ribosome"}, {"priority", "normal"}, {"items", entries}};
  }

  nlohmann::json enqueue_one(const std::string& path, int descriptor) const {
    return post("/v1/items", enqueue_body(nlohmann::json::array({entry(path)})), {descriptor})
        .at("items")
        .at(0);
  }
};

}  // namespace scheduler
