// Tokens as `scontrol token` makes them, but for the signature.
#pragma once

#include <cstdint>
#include <string>

namespace slurm {

inline std::string base64url(const std::string& bytes) {
  constexpr const char* kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const unsigned char byte : bytes) {
    bits = (bits << 8 | byte) & 0xFFFF;
    for (count += 8; count >= 6;) {
      count -= 6;
      text += kAlphabet[bits >> count & 63];
    }
  }
  if (count > 0) text += kAlphabet[bits << (6 - count) & 63];
  return text;
}

inline std::string token_of(const std::string& claims, const std::string& signature = "c2lnbmVk") {
  return base64url(R"({"alg":"HS256","typ":"JWT"})") + "." + base64url(claims) + "." + signature;
}

inline std::string token_of(const std::string& user, int64_t expires,
                            const std::string& signature = "c2lnbmVk") {
  return token_of("{\"exp\":" + std::to_string(expires) + ",\"iat\":1,\"sun\":\"" + user + "\"}",
                  signature);
}

}  // namespace slurm
