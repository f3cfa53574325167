// The shared file by which ranks find rank 0 without knowing its address or port, and its text,
// which is also what ranks of a group leave each other in a Store.
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
// nullopt where the text is not the whole of such a file.
std::optional<RendezvousFile> parse_rendezvous_file(const std::string& text);

// The file's text; nullopt when there is none. Opens it anew each time, since only then a network
// file system asks its server.
std::optional<std::string> read_rendezvous_file(const std::string& path);

// Makes a network file system ask the server what is in the file's folder now: that a file was not
// there is remembered for up to a minute, but not beyond a change to its folder.
void refresh_folder(const std::string& path);

}  // namespace engine::comm
