// Implements make_gloo() of engine/comm/factory.h: Gloo's collectives over a mesh of connections.
#include <gloo/broadcast.h>
#include <gloo/context.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/unbound_buffer.h>

#include <exception>
#include <optional>
#include <utility>

#include "engine/comm/factory.h"
#include "engine/comm/mesh.h"

namespace engine::comm {
namespace {

[[noreturn]] void not_ours() {
  throw std::logic_error("Gloo asked for what its broadcast and reduce do not need");
}

// Memory that a collective sends from or receives into.
class MeshBuffer : public gloo::transport::UnboundBuffer {
 public:
  MeshBuffer(Mesh& mesh, void* memory, size_t length)
      : gloo::transport::UnboundBuffer(memory, length), mesh_(mesh) {}

  bool waitRecv(int* /*rank*/, std::chrono::milliseconds /*timeout*/) override {
    return wait(received_);
  }
  bool waitSend(int* /*rank*/, std::chrono::milliseconds /*timeout*/) override {
    return wait(sent_);
  }
  void send(int rank, uint64_t slot, size_t offset, size_t length) override {
    mesh_.send(rank, slot, part(offset, length), sent_);
  }
  void recv(int rank, uint64_t slot, size_t offset, size_t length) override {
    mesh_.receive(rank, slot, part(offset, length), received_);
  }
  void recv(std::vector<int> /*ranks*/, uint64_t /*slot*/, size_t /*offset*/,
            size_t /*length*/) override {
    not_ours();
  }
  void abortWaitRecv() override { not_ours(); }
  void abortWaitSend() override { not_ours(); }

 private:
  std::span<std::byte> part(size_t offset, size_t length) const {
    const std::span<std::byte> all(static_cast<std::byte*>(ptr), size);
    return length == kUnspecifiedByteCount ? all.subspan(offset) : all.subspan(offset, length);
  }
  bool wait(int& completed) {
    mesh_.wait([&] { return completed > 0; });
    --completed;
    return true;
  }

  Mesh& mesh_;
  int sent_ = 0, received_ = 0;
};

// Says that there is a connection; the bytes go by way of the buffers.
class MeshPair : public gloo::transport::Pair {
 public:
  const gloo::transport::Address& address() const override { not_ours(); }
  void connect(const std::vector<char>& /*bytes*/) override { not_ours(); }
  void close() override {}
  void setSync(bool /*enable*/, bool /*busy_poll*/) override { not_ours(); }
  std::unique_ptr<gloo::transport::Buffer> createSendBuffer(int, void*, size_t) override {
    not_ours();
  }
  std::unique_ptr<gloo::transport::Buffer> createRecvBuffer(int, void*, size_t) override {
    not_ours();
  }
  void send(gloo::transport::UnboundBuffer*, uint64_t, size_t, size_t) override { not_ours(); }
  void recv(gloo::transport::UnboundBuffer*, uint64_t, size_t, size_t) override { not_ours(); }
};

class MeshTransport : public gloo::transport::Context {
 public:
  MeshTransport(const GroupConfig& config, Store& store)
      : gloo::transport::Context(config.rank, config.size), mesh_(config, store) {
    for (int other = 0; other < config.size; ++other) {
      if (other != config.rank) createPair(other);
    }
  }
  std::unique_ptr<gloo::transport::Pair>& createPair(int other) override {
    auto& pair = pairs_.at(static_cast<size_t>(other));
    pair = std::make_unique<MeshPair>();
    return pair;
  }
  std::unique_ptr<gloo::transport::UnboundBuffer> createUnboundBuffer(void* memory,
                                                                      size_t length) override {
    return std::make_unique<MeshBuffer>(mesh_, memory, length);
  }

 private:
  Mesh mesh_;
};

class MeshContext : public gloo::Context {
 public:
  MeshContext(const GroupConfig& config, Store& store) : gloo::Context(config.rank, config.size) {
    transportContext_ = std::make_shared<MeshTransport>(config, store);
  }
};

class Gloo : public Communicator {
 public:
  Gloo(const GroupConfig& config, Store& store)
      : rank_(config.rank), size_(config.size), name_(config.name) {
    guarded([&] { context_ = std::make_shared<MeshContext>(config, store); });
  }
  std::string name() const override { return "gloo"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void broadcast(std::span<std::byte> bytes) override {
    if (bytes.empty() || size_ == 1) return;
    run([&] {
      gloo::BroadcastOptions options(context_);
      options.setOutput(bytes.data(), bytes.size());
      options.setRoot(0);
      gloo::broadcast(options);
    });
  }
  void reduce_max(std::span<uint64_t> values) override { reduce(values, gloo::max<uint64_t>); }
  void reduce_sum(std::span<int64_t> values) override { reduce(values, gloo::sum<int64_t>); }

 private:
  // `operation`: element by element, result first.
  template <typename T>
  void reduce(std::span<T> values,
              void (*operation)(void*, const void*, const void*, size_t count)) {
    if (values.empty() || size_ == 1) return;
    run([&] {
      gloo::ReduceOptions options(context_);
      options.setOutput(values.data(), values.size());
      options.setRoot(0);
      options.setReduceFunction(operation);
      gloo::reduce(options);
    });
  }

  template <typename Collective>
  void run(const Collective& collective) {
    if (!context_) {
      throw CommunicatorLost("the connections of the group " + name_ + " were lost before");
    }
    guarded(collective);
  }

  // What went wrong leaves bytes on their way: the connections are closed, by which the other ranks
  // learn of it, too.
  template <typename Call>
  void guarded(const Call& call) {
    try {
      call();
    } catch (const CommunicatorLost&) {
      context_.reset();
      throw;
    } catch (const std::exception& error) {
      context_.reset();
      throw CommunicatorLost("the group " + name_ + " is lost to rank " + std::to_string(rank_) +
                             ": " + error.what());
    }
  }

  const int rank_, size_;
  const std::string name_;
  std::shared_ptr<MeshContext> context_;
};

}  // namespace

bool has_gloo() { return true; }

std::unique_ptr<Communicator> make_gloo(const GroupConfig& config, Store& store) {
  return std::make_unique<Gloo>(config, store);
}

}  // namespace engine::comm
