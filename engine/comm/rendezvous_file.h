// The shared file by which ranks find rank 0 without knowing its address or port. The ranks of a
// group also put its text into a Store for each other.
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
// Returns nullopt where the text is not a complete rendezvous file.
std::optional<RendezvousFile> parse_rendezvous_file(const std::string& text);

// Returns the file's text; nullopt when there is no file. Opens it anew each time, since only then
// does a network file system ask its server.
std::optional<std::string> read_rendezvous_file(const std::string& path);

// Makes a network file system ask its server what is in the folder of `path` now. A client may
// remember for up to a minute that a file is missing, but forgets it when the folder changes.
void refresh_folder(const std::string& path);

}  // namespace engine::comm
