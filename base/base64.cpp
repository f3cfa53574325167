#include "base/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace base {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a zero
  EVP_EncodeBlock(bytes_of(text), bytes_of(bytes), static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  const size_t digits = std::min(text.find_last_not_of('=') + 1, text.size());
  const size_t padding = text.size() - digits;
  // OpenSSL would skip blanks and count every '=' as a zero.
  if (text.size() % 4 != 0 || padding > 2 ||
      text.substr(0, digits).find_first_not_of(kDigits) != std::string_view::npos) {
    return std::nullopt;
  }
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(bytes_of(bytes), bytes_of(text), static_cast<int>(text.size()));
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string plain(text.substr(0, text.find_last_not_of('=') + 1));
  if (plain.find_first_of("+/") != std::string::npos) return std::nullopt;
  std::replace(plain.begin(), plain.end(), '-', '+');
  std::replace(plain.begin(), plain.end(), '_', '/');
  plain.resize((plain.size() + 3) / 4 * 4, '=');
  return from_base64(plain);
}

}  // namespace base
