#include "engine/comm/rendezvous_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/hex.h"
#include "base/parse_number.h"
#include "engine/comm/sockets.h"

namespace engine::comm {
namespace {

constexpr const char* kFirstLine = "margay rendezvous 1";
constexpr const char* kLastLine = "end";

std::string bytes_of(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

std::string text_of(const RendezvousFile& rendezvous) {
  std::ostringstream text;
  // A nonce is what the user says it is: any bytes.
  text << kFirstLine << "\nnonce " << base::hex_of(rendezvous.nonce) << "\nport " << rendezvous.port
       << "\nhost " << rendezvous.host << "\n";
  for (const std::string& address : rendezvous.addresses) text << "address " << address << "\n";
  text << kLastLine << "\n";
  return text.str();
}

std::optional<RendezvousFile> parse_rendezvous_file(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!text.ends_with('\n') || !std::getline(lines, line) || line != kFirstLine) {
    return std::nullopt;
  }
  RendezvousFile rendezvous;
  while (std::getline(lines, line)) {
    if (line == kLastLine) break;
    const size_t blank = line.find(' ');
    if (blank == std::string::npos) return std::nullopt;
    const std::string key = line.substr(0, blank), value = line.substr(blank + 1);
    if (key == "nonce") rendezvous.nonce = bytes_of(value);
    if (key == "host") rendezvous.host = value;
    if (key == "address") rendezvous.addresses.push_back(value);
    if (key == "port") rendezvous.port = base::parse_number<int>(value).value_or(0);
  }
  if (line != kLastLine || rendezvous.port < 1 || rendezvous.port > 65535) return std::nullopt;
  return rendezvous;
}

std::optional<std::string> read_rendezvous_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(stream), {}};
}

void refresh_folder(const std::string& path) {
  // The surest way is a change of one's own, where that is allowed.
  std::string own = path + ".look-XXXXXX";
  const Descriptor file(::mkostemp(own.data(), O_CLOEXEC));
  if (file) ::unlink(own.c_str());
  // Where it is not, a server is asked at least when a folder is listed.
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  std::filesystem::directory_iterator(folder.empty() ? "." : folder, error);
}

}  // namespace engine::comm
