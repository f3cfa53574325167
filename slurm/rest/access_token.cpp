#include "slurm/rest/access_token.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/base64.h"
#include "base/descriptor.h"
#include "base/json.h"
#include "base/text.h"

namespace slurm {
namespace {

constexpr size_t kLongestFile = size_t{64} << 10;
constexpr const char* kPrefix = "SLURM_JWT=";

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("the token file " + path + " " + why);
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string read_token(int file, const std::string& path) {
  const std::optional<std::string> text = base::read_all(file, kLongestFile + 1);
  if (!text) fail(path, std::string("cannot be read: ") + std::strerror(errno));
  if (text->size() > kLongestFile) fail(path, "is far too long for a token");
  return *text;
}

std::string token_in(const std::string& text, const std::string& path) {
  std::string token = base::trimmed(text);
  if (token.empty()) fail(path, "is empty: write the JSON Web Token of `scontrol token` there");
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
  const auto text =
      base::from_base64url(std::string_view(token).substr(first + 1, second - first - 1));
  if (!text) return std::nullopt;
  const auto claims = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!claims.is_object()) return std::nullopt;
  TokenFacts facts;
  const auto expires = claims.find("exp");
  if (expires != claims.end() && expires->is_number()) {
    // A time of a token may be a fraction, and whoever wrote it may have written anything.
    constexpr double kLatest = 1e15;  // seconds since 1970
    facts.expires = static_cast<int64_t>(std::clamp(expires->get<double>(), 0.0, kLatest));
  }
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
  const base::Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) fail(path_, "is not there");
  if (!file) fail(path_, std::string("cannot be read: ") + std::strerror(errno));
  // fstat() and not stat(): the name may be another file's by now.
  if (::fstat(file.get(), &now) != 0 || !S_ISREG(now.st_mode)) fail(path_, "is no plain file");
  token_ = token_in(read_token(file.get(), path_), path_);
  mtime_ns_ = mtime_ns_of(now);
  inode_ = now.st_ino;
  size_ = now.st_size;
  known_ = true;
  return token_;
}

}  // namespace slurm
