// `margay` against a real server in this process.
#pragma once

#include <string>
#include <vector>

#include "db/items.h"
#include "tests/unit/scheduler/api/api_fixture.h"

namespace scheduler {

using Words = std::vector<std::string>;

class CliTest : public ApiFixture {
 protected:
  Outcome enqueue_files(Words files, const Words& more = {}) const {
    Words arguments = {"enqueue", "--template", "ribosome"};
    const Words& ctf = more.empty() ? Words{"--defocus-u", "1e4", "--defocus-v", "1e4"} : more;
    arguments.insert(arguments.end(), ctf.begin(), ctf.end());
    arguments.insert(arguments.end(), files.begin(), files.end());
    return margay(arguments);
  }

  void set_state(int64_t item, db::ItemState state, const std::string& reason = "") const {
    db::ItemStore(*database_).set_state(item, state, reason, 1);
  }
};

}  // namespace scheduler
