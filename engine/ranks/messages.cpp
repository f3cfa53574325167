#include "engine/ranks/messages.h"

#include <tuple>
#include <utility>

namespace engine {
namespace {

// The fields of each message, in the order in which they are sent.
constexpr auto fields_of(const DeviceClaim*) { return std::tuple(&DeviceClaim::identity); }
constexpr auto fields_of(const Ready*) {
  return std::tuple(&Ready::batch, &Ready::device, &Ready::signature);
}
constexpr auto fields_of(const WorkRequest*) {
  return std::tuple(&WorkRequest::done, &WorkRequest::best_z);
}
constexpr auto fields_of(const StopRequest*) { return std::tuple(); }
constexpr auto fields_of(const Start*) { return std::tuple(&Start::communicator); }
constexpr auto fields_of(const Order*) {
  return std::tuple(&Order::kind, &Order::chunk, &Order::round, &Order::participants,
                    &Order::stopped);
}
constexpr auto fields_of(const Heartbeat*) { return std::tuple(); }
constexpr auto fields_of(const Failed*) { return std::tuple(&Failed::code, &Failed::what); }
constexpr auto fields_of(const StoreEntry*) {
  return std::tuple(&StoreEntry::name, &StoreEntry::value);
}

template <size_t kIndex = 0>
RankMessage decode_as(uint32_t kind, comm::WireReader& in) {
  if constexpr (kIndex == std::variant_size_v<RankMessage>) {
    throw MalformedMessage("a message of no known kind");
  } else {
    if (kind != kIndex) return decode_as<kIndex + 1>(kind, in);
    std::variant_alternative_t<kIndex, RankMessage> message{};
    std::apply([&](auto... field) { in.get_rest(message.*field...); }, fields_of(&message));
    return message;
  }
}

}  // namespace

comm::Message encode(const RankMessage& message) {
  comm::WireWriter out;
  std::visit(
      [&](const auto& one) {
        std::apply([&](auto... field) { (out.put(one.*field), ...); }, fields_of(&one));
      },
      message);
  return {.kind = static_cast<uint32_t>(message.index()), .body = out.take()};
}

RankMessage decode(const comm::Message& message) {
  comm::WireReader in(message.body);
  RankMessage decoded = decode_as(message.kind, in);
  const auto* order = std::get_if<Order>(&decoded);
  if (order && (order->kind < OrderKind::kWork || order->kind > OrderKind::kEnd)) {
    throw MalformedMessage("an order of no known kind");
  }
  return decoded;
}

}  // namespace engine
