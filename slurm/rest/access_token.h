// The JSON Web Token for slurmrestd, from a file that the site renews. Used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slurm {

// When a token expires and whom it names, read without checking the signature.
struct TokenFacts {
  std::optional<int64_t> expires{};  // seconds since the epoch
  std::string user{};
};
// nullopt: the text is not a JSON Web Token.
std::optional<TokenFacts> read_token_facts(const std::string& token);

class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}

  // The token in the file, which is read again when it has changed. "SLURM_JWT=..." as scontrol
  // prints it is understood. Throws std::runtime_error naming the file, never its content.
  const std::string& token();
  // The server refused the token: the file is read again at the next use, whatever its time.
  void distrust() { known_ = false; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string token_;
  bool known_ = false;
  int64_t mtime_ns_ = 0;
  uint64_t inode_ = 0;
  int64_t size_ = 0;
};

}  // namespace slurm
