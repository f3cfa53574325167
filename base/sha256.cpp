#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "engine/error.h"

namespace engine {
namespace {

void check(bool good) {
  if (!good) throw std::runtime_error("OpenSSL cannot compute SHA-256 on this machine");
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw InputError("cannot read '" + path + "': " + std::generic_category().message(error));
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
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) fail(path, errno);
  Sha256 hash;
  std::vector<unsigned char> buffer(size_t{1} << 20);
  while (true) {
    errno = 0;
    const size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get());
    hash.add(buffer.data(), count);
    if (count == buffer.size()) continue;
    if (std::ferror(file.get())) fail(path, errno);
    return hash.hex();
  }
}

std::string sha256_of_bytes(const void* data, size_t size) {
  Sha256 hash;
  hash.add(data, size);
  return hash.hex();
}

}  // namespace engine
