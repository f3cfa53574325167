#include "slurm/rest/access_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace slurm {
namespace {

constexpr size_t kLongestFile = size_t{64} << 10;
constexpr const char* kPrefix = "SLURM_JWT=";
constexpr const char* kBlanks = " \t\r\n";

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("the token file " + path + " " + why);
}

int value_of(char c) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const size_t at = kAlphabet.find(c);
  return at == kAlphabet.npos ? -1 : static_cast<int>(at);
}

// Base64url, without padding (RFC 7515).
std::optional<std::string> decode(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int value = value_of(c);
    if (value < 0) return std::nullopt;
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xFFFF;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  return bytes;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

std::string read_all(int file, const std::string& path) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, std::string("cannot be read: ") + std::strerror(errno));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
    if (text.size() > kLongestFile) fail(path, "is far too long for a token");
  }
}

std::string token_in(const std::string& text, const std::string& path) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos)
    fail(path, "is empty: write the JSON Web Token of `scontrol token` there");
  std::string token = text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
  if (token.starts_with(kPrefix)) token.erase(0, std::strlen(kPrefix));
  if (token.find('\n') != token.npos) {
    fail(path, "has more than one line: only the JSON Web Token belongs there");
  }
  const auto is_plain = [](unsigned char c) { return c > ' ' && c < 0x7F; };
  if (token.empty() || !std::all_of(token.begin(), token.end(), is_plain)) {
    fail(path, "does not hold a JSON Web Token (one word without blanks)");
  }
  return token;
}

int64_t mtime_ns_of(const struct stat& file) {
  return int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
}

}  // namespace

std::optional<TokenFacts> read_token_facts(const std::string& token) {
  const size_t first = token.find('.');
  const size_t second = first == token.npos ? token.npos : token.find('.', first + 1);
  if (second == token.npos) return std::nullopt;
  const auto text = decode(std::string_view(token).substr(first + 1, second - first - 1));
  if (!text) return std::nullopt;
  const auto claims = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!claims.is_object()) return std::nullopt;
  TokenFacts facts;
  const auto expires = claims.find("exp");
  if (expires != claims.end() && expires->is_number()) facts.expires = expires->get<int64_t>();
  facts.user = text_at(claims, "sun");
  if (facts.user.empty()) facts.user = text_at(claims, "username");
  return facts;
}

const std::string& TokenFile::token() {
  struct stat now {};
  if (known_ && ::stat(path_.c_str(), &now) == 0 && mtime_ns_of(now) == mtime_ns_ &&
      now.st_ino == inode_ && now.st_size == size_) {
    return token_;
  }
  known_ = false;
  // O_NONBLOCK, so that a named pipe at this path cannot block the daemon.
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 && errno == ENOENT) fail(path_, "is not there");
  if (file.get() < 0) fail(path_, std::string("cannot be read: ") + std::strerror(errno));
  // fstat() and not stat(): the name may be another file's by now.
  if (::fstat(file.get(), &now) != 0 || !S_ISREG(now.st_mode)) fail(path_, "is no plain file");
  token_ = token_in(read_all(file.get(), path_), path_);
  mtime_ns_ = mtime_ns_of(now);
  inode_ = now.st_ino;
  size_ = now.st_size;
  known_ = true;
  return token_;
}

}  // namespace slurm
