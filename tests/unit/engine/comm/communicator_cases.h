// What every communicator of several ranks must do, and notices that ranks leave in a folder.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/comm/factory.h"
#include "tests/wait_until.h"

namespace tests {

// In a folder that all ranks see.
class FolderStore : public engine::comm::Store {
 public:
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}

  void put(const std::string& name, const std::vector<char>& value) override {
    const std::string path = path_of(name);
    std::ofstream(path + ".new", std::ios::binary)
        .write(value.data(), static_cast<std::streamsize>(value.size()));
    std::filesystem::rename(path + ".new", path);
  }
  std::vector<char> get(const std::string& name) override {
    const std::string path = path_of(name);
    if (!becomes_true([&] { return std::filesystem::exists(path); }, timeout)) {
      throw engine::CommunicatorLost("no notice of the name " + name);
    }
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::chrono::seconds timeout{60};

 private:
  std::string path_of(std::string name) const {
    for (char& c : name) c = c == '/' ? '-' : c;
    return folder_ + "/" + name;
  }

  const std::string folder_;
};

inline uint64_t key_of(int rank, size_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(rank) * 0xbf58476d1ce4e5b9u;
  x ^= x >> 31;
  return x * 0x94d049bb133111ebu;
}
// Of both signs, and so that the sum of a few ranks' does not overflow.
inline int64_t number_of(int rank, size_t i) {
  return static_cast<int64_t>(key_of(rank, i) >> 8) - (int64_t{1} << 55);
}

// Broadcasts and reduces `count` values; what is wrong with what this rank has then, or nothing.
inline std::string fault_of_collectives(engine::Communicator& communicator, size_t count) {
  const int rank = communicator.rank();
  std::vector<std::byte> bytes(count * 3);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(key_of(rank, i));
  std::vector<uint64_t> keys(count);
  std::vector<int64_t> numbers(count);
  for (size_t i = 0; i < count; ++i) keys[i] = key_of(rank, i);
  for (size_t i = 0; i < count; ++i) numbers[i] = number_of(rank, i);
  communicator.broadcast(bytes);
  communicator.reduce_max(keys);
  communicator.reduce_sum(numbers);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != static_cast<std::byte>(key_of(0, i))) {
      return "byte " + std::to_string(i) + " of " + std::to_string(bytes.size()) +
             " is not rank 0's";
    }
  }
  for (size_t i = 0; rank == 0 && i < count; ++i) {
    uint64_t largest = 0;
    int64_t sum = 0;
    for (int other = 0; other < communicator.size(); ++other) {
      largest = std::max(largest, key_of(other, i));
      sum += number_of(other, i);
    }
    if (keys[i] != largest) return "maximum " + std::to_string(i) + " is wrong";
    if (numbers[i] != sum) return "sum " + std::to_string(i) + " is wrong";
  }
  return "";
}

// None, one, fewer than ranks, odd, and more than is on its way at once.
inline std::vector<size_t> counts_for(int size) {
  std::vector<size_t> counts = {0, 1, 2, 3, 5, 9'007};
  if (size == 2) counts.push_back(530'001);  // more than two pieces for each rank
  return counts;
}

inline std::string fault_of_all_collectives(engine::Communicator& communicator) {
  for (const size_t count : counts_for(communicator.size())) {
    const std::string fault = fault_of_collectives(communicator, count);
    if (!fault.empty()) return std::to_string(count) + " values: " + fault;
  }
  return "";
}

}  // namespace tests
