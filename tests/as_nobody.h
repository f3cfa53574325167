// What another user of this machine does, for tests that run as root.
#pragma once

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <thread>

namespace tests {

constexpr uid_t kNobody = 65534;

// In a thread with the rights of this user and this group: the kernel gives them to the other end
// of a socket.
inline void as_user(uid_t user, gid_t group, const std::function<void()>& action) {
  std::thread([&] {
    const bool changed = ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                         ::syscall(SYS_setresgid, group, group, group) == 0 &&
                         ::syscall(SYS_setresuid, user, user, user) == 0;
    ASSERT_TRUE(changed);
    action();
  }).join();
  ::prctl(PR_SET_DUMPABLE, 1);  // the kernel has hidden this process from the leak sanitizer
}

inline void as_nobody(const std::function<void()>& action) { as_user(kNobody, kNobody, action); }

}  // namespace tests
