// What users ask for, and how it is refused.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/commands/commands.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {

class CommandsTest : public DaemonFixture {
 protected:
  template <typename Error, typename Action>
  static std::string refusal(Action action) {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "not refused";
  }
  void set_state(int64_t id, db::ItemState state, const std::string& reason = "") {
    db::ItemStore(*database_).set_state(id, state, reason, 0);
  }
  EnqueueRequest request(const std::string& name) {
    return {.micrograph = file_facts(folder_.write(name, "m")), .template_name = "ribosome"};
  }

  const Caller other_{.uid = 1001, .name = "bob"};
  const Caller root_{.uid = 0, .name = "root", .privileged = true};
};

}  // namespace scheduler
