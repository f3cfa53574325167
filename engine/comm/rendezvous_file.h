// The shared file by which ranks find rank 0 without knowing its address or port.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace engine::comm {

struct RendezvousFile {
  std::string nonce;
  std::string host;
  std::vector<std::string> addresses;  // numeric
  int port = 0;
};

std::string text_of(const RendezvousFile& rendezvous);
// Nothing for what is no such file, or not the whole of one.
std::optional<RendezvousFile> parse_rendezvous_file(const std::string& text);

// As the file is now: opened anew each time, since that is when a network file system looks at the
// server's. Nothing when there is none.
std::optional<std::string> read_rendezvous_file(const std::string& path);

// Makes a network file system ask the server what is in the file's folder now: that a file was not
// there is remembered for up to a minute, but not beyond a change to its folder.
void refresh_folder(const std::string& path);

}  // namespace engine::comm
