#include "base/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/hex.h"

namespace base {
namespace {

void check(bool good) {
  if (!good) throw std::runtime_error("OpenSSL cannot compute SHA-256 on this machine");
}

// read_block(buffer, size, offset) is read(2) or pread(2).
template <typename ReadBlock>
std::string hash_of(const ReadBlock& read_block, const std::string& path) {
  Sha256 hash;
  std::vector<char> block(size_t{1} << 20);
  for (off_t offset = 0;;) {
    const ssize_t count = read_block(block.data(), block.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw FileError(errno, "cannot read '" + path + "'");
    if (count == 0) return hash.hex();
    hash.add(block.data(), static_cast<size_t>(count));
    offset += count;
  }
}

}  // namespace

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> evp{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  check(context_->evp && EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::add(const void* data, size_t size) {
  check(EVP_DigestUpdate(context_->evp.get(), data, size) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context_->evp.get(), digest.data(), &size) == 1);
  return hex_of({reinterpret_cast<const char*>(digest.data()), size});
}

std::string sha256_of_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw FileError(errno, "cannot read '" + path + "'");
  const auto next = [&](char* block, size_t size, off_t) {
    return ::read(file.get(), block, size);
  };
  return hash_of(next, path);
}

std::string sha256_of_open_file(int descriptor, const std::string& path) {
  const auto at = [&](char* block, size_t size, off_t offset) {
    return ::pread(descriptor, block, size, offset);
  };
  return hash_of(at, path);
}

std::string sha256_of_bytes(const void* data, size_t size) {
  Sha256 hash;
  hash.add(data, size);
  return hash.hex();
}

std::string sha256_of_text(std::string_view text) {
  return sha256_of_bytes(text.data(), text.size());
}

}  // namespace base
