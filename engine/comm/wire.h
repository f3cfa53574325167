// Writes and reads numbers, texts and lists as the bytes of a message's body. Numbers are
// little-endian, the host's byte order; a text or a list is its length in 4 bytes and its elements.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace engine::comm {

static_assert(std::endian::native == std::endian::little);

// The bytes are not a valid message of a rank.
class MalformedMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename T>
concept WireNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class WireWriter {
 public:
  void put(WireNumber auto value) { append(&value, sizeof(value)); }
  template <typename List>
  requires(!WireNumber<List>) void put(const List& list) {
    static_assert(std::is_trivially_copyable_v<typename List::value_type>);
    put(static_cast<uint32_t>(list.size()));
    append(list.data(), list.size() * sizeof(list[0]));
  }
  std::vector<std::byte> take() { return std::move(body_); }

 private:
  void append(const void* data, size_t bytes) {
    const size_t at = body_.size();
    body_.resize(at + bytes);
    if (bytes > 0) std::memcpy(body_.data() + at, data, bytes);
  }

  std::vector<std::byte> body_;
};

// `body` must outlive the reader. Every call throws MalformedMessage where the body is too short.
class WireReader {
 public:
  explicit WireReader(const std::vector<std::byte>& body) : body_(body) {}

  void get(WireNumber auto& value) { take(&value, sizeof(value)); }
  void get(bool& value) {
    uint8_t byte = 0;
    get(byte);
    value = byte != 0;
  }
  template <typename List>
  requires(!WireNumber<List>) void get(List& list) {
    static_assert(std::is_trivially_copyable_v<typename List::value_type>);
    uint32_t count = 0;
    get(count);
    need(uint64_t{count} * sizeof(list[0]));
    list.resize(count);
    take(list.data(), count * sizeof(list[0]));
  }
  // Reads the last values of the body. Throws MalformedMessage where anything is left after them.
  void get_rest(auto&... values) {
    (get(values), ...);
    if (at_ != body_.size()) throw MalformedMessage("a message is longer than it should be");
  }

 private:
  void need(uint64_t bytes) const {
    if (bytes > body_.size() - at_) throw MalformedMessage("a message is cut short");
  }
  void take(void* data, size_t bytes) {
    need(bytes);
    if (bytes > 0) std::memcpy(data, body_.data() + at_, bytes);
    at_ += bytes;
  }

  const std::vector<std::byte>& body_;
  size_t at_ = 0;
};

}  // namespace engine::comm
