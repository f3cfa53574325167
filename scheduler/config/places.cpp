#include "scheduler/config/places.h"

#include "base/environment.h"

namespace scheduler {
namespace {

std::string absolute_folder(const char* name) {
  std::string folder = base::variable(name);
  return folder.starts_with("/") ? folder : "";
}

std::string runtime_socket(const UserFolders& folders) {
  return folders.runtime.empty() ? "" : folders.runtime + "/margay/margay.sock";
}

std::string state_socket(const UserFolders& folders) {
  const std::string state = default_state(folders);
  return state.empty() ? "" : state + "/margay.sock";
}

}  // namespace

UserFolders user_folders() {
  return {.runtime = absolute_folder("XDG_RUNTIME_DIR"),
          .state = absolute_folder("XDG_STATE_HOME"),
          .home = absolute_folder("HOME")};
}

std::string default_state(const UserFolders& folders) {
  if (!folders.state.empty()) return folders.state + "/margay";
  return folders.home.empty() ? "" : folders.home + "/.local/state/margay";
}

std::string default_socket(const UserFolders& folders) {
  const std::string socket = runtime_socket(folders);
  return socket.empty() ? state_socket(folders) : socket;
}

std::vector<std::string> sockets_to_try(const UserFolders& folders) {
  std::vector<std::string> sockets;
  for (const std::string& socket : {runtime_socket(folders), state_socket(folders)}) {
    if (!socket.empty()) sockets.push_back(socket);
  }
  sockets.emplace_back(kSystemSocket);
  return sockets;
}

}  // namespace scheduler
