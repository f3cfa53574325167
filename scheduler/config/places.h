// Where margayd and margay find each other without a configuration. Pure.
#pragma once

#include <string>
#include <vector>

namespace scheduler {

// The socket of a daemon that serves a whole machine; packaging/margayd.yaml names it.
inline constexpr const char* kSystemSocket = "/run/margay/margay.sock";

// Folders from the process's environment; empty: not set.
struct UserFolders {
  std::string runtime{};  // XDG_RUNTIME_DIR
  std::string state{};    // XDG_STATE_HOME
  std::string home{};     // HOME
};

// Reads the environment. A folder that is not absolute counts as not set, as the XDG base directory
// specification says.
UserFolders user_folders();

// The default state folder of margayd: margay in XDG_STATE_HOME, else in ~/.local/state. Empty:
// there is no home.
std::string default_state(const UserFolders& folders);

// The default socket of margayd: in XDG_RUNTIME_DIR, else in the default state folder. Empty: there
// is no home.
std::string default_socket(const UserFolders& folders);

// Where margay looks for a socket by default, in this order: in XDG_RUNTIME_DIR, in the default
// state folder, kSystemSocket.
std::vector<std::string> sockets_to_try(const UserFolders& folders);

}  // namespace scheduler
