#include "engine/ranks/messages.h"

#include <cstring>
#include <type_traits>

namespace engine {
namespace {

class Writer {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) { append(&value, sizeof(T)); }
  template <typename Container>
  void put_bytes(const Container& values) {
    put(static_cast<uint32_t>(values.size()));
    append(values.data(), values.size() * sizeof(values[0]));
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

class Reader {
 public:
  explicit Reader(const std::vector<std::byte>& body) : body_(body) {}
  template <typename T>
  void get(T& value) {
    need(sizeof(T));
    std::memcpy(&value, body_.data() + at_, sizeof(T));
    at_ += sizeof(T);
  }
  template <typename Container>
  void get_bytes(Container& values) {
    uint32_t count = 0;
    get(count);
    need(uint64_t{count} * sizeof(values[0]));
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), body_.data() + at_, count * sizeof(values[0]));
    at_ += count * sizeof(values[0]);
  }
  void end() const {
    if (at_ != body_.size()) throw MalformedMessage("a message is longer than it should be");
  }

 private:
  void need(uint64_t bytes) const {
    if (bytes > body_.size() - at_) throw MalformedMessage("a message is cut short");
  }

  const std::vector<std::byte>& body_;
  size_t at_ = 0;
};

void put(Writer& out, const DeviceClaim& m) { out.put_bytes(m.identity); }
void get(Reader& in, DeviceClaim& m) { in.get_bytes(m.identity); }
void put(Writer& out, const Ready& m) {
  out.put(m.batch);
  out.put_bytes(m.device);
  out.put_bytes(m.signature);
}
void get(Reader& in, Ready& m) {
  in.get(m.batch);
  in.get_bytes(m.device);
  in.get_bytes(m.signature);
}
void put(Writer& out, const WorkRequest& m) {
  out.put(m.done);
  out.put(m.best_z);
}
void get(Reader& in, WorkRequest& m) {
  in.get(m.done);
  in.get(m.best_z);
}
void put(Writer& out, const Start& m) { out.put_bytes(m.communicator); }
void get(Reader& in, Start& m) { in.get_bytes(m.communicator); }
void put(Writer& out, const Order& m) {
  out.put(m.kind);
  out.put_bytes(m.chunk);
  out.put(m.round);
  out.put_bytes(m.participants);
  out.put(m.stopped);
}
void get(Reader& in, Order& m) {
  in.get(m.kind);
  in.get_bytes(m.chunk);
  in.get(m.round);
  in.get_bytes(m.participants);
  uint8_t stopped = 0;
  in.get(stopped);
  m.stopped = stopped != 0;
  if (m.kind < OrderKind::kWork || m.kind > OrderKind::kEnd) {
    throw MalformedMessage("an order of no known kind");
  }
}
void put(Writer& out, const Failed& m) {
  out.put(m.code);
  out.put_bytes(m.what);
}
void get(Reader& in, Failed& m) {
  in.get(m.code);
  in.get_bytes(m.what);
}
void put(Writer& out, const StoreEntry& m) {
  out.put_bytes(m.name);
  out.put_bytes(m.value);
}
void get(Reader& in, StoreEntry& m) {
  in.get_bytes(m.name);
  in.get_bytes(m.value);
}
void put(Writer& /*out*/, const StopRequest& /*m*/) {}
void get(Reader& /*in*/, StopRequest& /*m*/) {}
void put(Writer& /*out*/, const Heartbeat& /*m*/) {}
void get(Reader& /*in*/, Heartbeat& /*m*/) {}

template <size_t kIndex = 0>
RankMessage decode_as(uint32_t kind, Reader& in) {
  if constexpr (kIndex == std::variant_size_v<RankMessage>) {
    throw MalformedMessage("a message of no known kind");
  } else {
    if (kind != kIndex) return decode_as<kIndex + 1>(kind, in);
    std::variant_alternative_t<kIndex, RankMessage> message{};
    get(in, message);
    in.end();
    return message;
  }
}

}  // namespace

comm::Message encode(const RankMessage& message) {
  Writer out;
  std::visit([&](const auto& one) { put(out, one); }, message);
  return {.kind = static_cast<uint32_t>(message.index()), .body = out.take()};
}

RankMessage decode(const comm::Message& message) {
  Reader in(message.body);
  return decode_as(message.kind, in);
}

}  // namespace engine
