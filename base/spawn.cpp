#include "base/spawn.h"

#include <unistd.h>

#include <csignal>

namespace base {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Spawn::Spawn(short flags) {
  posix_spawn_file_actions_init(&actions_);
  posix_spawnattr_init(&attributes_);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &all);
  posix_spawnattr_setflags(
      &attributes_, static_cast<short>(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

Spawn::~Spawn() {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawnattr_destroy(&attributes_);
}

void Spawn::open(int descriptor, const std::string& path, int flags, mode_t mode) {
  posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, mode);
}

void Spawn::duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }

void Spawn::close_from(int descriptor) {
  posix_spawn_file_actions_addclosefrom_np(&actions_, descriptor);
}

void Spawn::enter(const std::string& folder) {
  posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
}

int Spawn::run(std::vector<std::string> command, pid_t& child) const {
  return posix_spawnp(&child, command[0].c_str(), &actions_, &attributes_,
                      pointers_to(command).data(), environ);
}

int Spawn::run(std::vector<std::string> command, std::vector<std::string> environment,
               pid_t& child) const {
  return posix_spawnp(&child, command[0].c_str(), &actions_, &attributes_,
                      pointers_to(command).data(), pointers_to(environment).data());
}

}  // namespace base
