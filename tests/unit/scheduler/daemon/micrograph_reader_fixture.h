// Items whose micrographs the daemon is to read, and files that change in their places.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "scheduler/daemon/micrograph_reader.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {

class MicrographReaderTest : public DaemonFixture {
 protected:
  // Not read yet.
  int64_t enqueue_unread(const std::string& name, const Caller& caller, bool hold = false,
                         db::Priority priority = db::Priority::kNormal) {
    return commands_
        ->enqueue(caller, {.micrograph = file_facts(folder_.write(name, "micrograph " + name)),
                           .template_name = "ribosome",
                           .priority = priority,
                           .hold = hold})
        .id;
  }
  int64_t enqueue_unread(const std::string& name) { return enqueue_unread(name, user_); }
  // As `touch -r` does after a write.
  void write_unseen(const std::string& name, const std::string& text) const {
    const auto time = std::filesystem::last_write_time(folder_.file(name));
    folder_.write(name, text);
    std::filesystem::last_write_time(folder_.file(name), time);
  }
  std::string reason(int64_t id) { return commands_->show(id).explanation; }
  // As a file server that refuses the daemon: it can neither be opened nor is it missing.
  void make_unreachable(int64_t id) {
    database_->connection().execute("UPDATE items SET micrograph_path = '" +
                                    folder_.file(std::string(300, 'x') + std::to_string(id)) +
                                    "' WHERE id = " + std::to_string(id));
  }

  const Caller other_{.uid = 1001, .name = "bob"};
};

}  // namespace scheduler
