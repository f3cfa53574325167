#include "engine/results/checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include "base/atomic_file.h"
#include "base/checkpoint_text.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "engine/error.h"
#include "engine/io/input_errors.h"

namespace engine {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian files");

constexpr char kMagic[] = "MARGAYCP";
constexpr size_t kMagicBytes = 8;
constexpr uint32_t kCheckpointFormat = 1;
constexpr size_t kHashBytes = 64;  // SHA-256 in hex
constexpr uint32_t kLongestHeader = 1 << 20;

json header_of(const Checkpoint& c) {
  json parts = json::array();
  for (const auto& [name, content] : c.identity.parts) parts.push_back({name, content});
  return {{"numerics_version", c.numerics_version},
          {"backend", c.backend},
          {"fft", c.fft},
          {"precision", c.precision},
          {"search_hash", c.identity.hash()},
          {"search", parts},
          {"units", c.finished.size()},
          {"height", c.accumulators.height},
          {"width", c.accumulators.width}};
}

std::vector<uint8_t> pack_bits(const std::vector<bool>& bits) {
  std::vector<uint8_t> bytes((bits.size() + 7) / 8);
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) bytes[i / 8] = static_cast<uint8_t>(bytes[i / 8] | 1u << i % 8);
  }
  return bytes;
}

// Writes to a hidden name and hashes on the way.
class Writer {
 public:
  explicit Writer(const std::string& path)
      : target_(path, base::Folder::kMake),
        file_(::fdopen(target_.create().release(), "wb"), std::fclose) {
    if (!file_) fail();
  }
  void put(const void* data, size_t size) {
    hash_.add(data, size);
    write(data, size);
  }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    put(values.data(), values.size() * sizeof(T));
  }
  void commit() {
    const std::string hex = hash_.hex();
    write(hex.data(), hex.size());
    if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0) fail();
    file_.reset();
    target_.commit();
    base::sync_folder_of(target_.path());
  }

 private:
  void write(const void* data, size_t size) {
    if (size > 0 && std::fwrite(data, 1, size, file_.get()) != size) fail();
  }
  [[noreturn]] void fail() const {
    throw base::FileError(errno, "cannot write '" + target_.path() + "'");
  }

  base::AtomicFile target_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  base::Sha256 hash_;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path, std::ios::binary) {
    struct stat status = {};
    if (!in_ || ::stat(path.c_str(), &status) != 0) {
      throw InputError(base::checkpoint_text(path) +
                       " cannot be read: " + std::generic_category().message(errno));
    }
    if (!S_ISREG(status.st_mode)) throw InputError(base::checkpoint_text(path) + " is not a file");
    left_ = static_cast<uint64_t>(status.st_size);
  }
  void get(void* data, size_t size) {
    if (size > left_) fail("is cut short");
    in_.read(static_cast<char*>(data), static_cast<std::streamsize>(size));
    if (!in_) fail("cannot be read to its end");
    left_ -= size;
    hash_.add(data, size);
  }
  template <typename T>
  void get_all(std::vector<T>& values, uint64_t count) {
    if (count > left_ / sizeof(T)) fail("is cut short");
    values.resize(count);
    get(values.data(), count * sizeof(T));
  }
  void check_hash() {
    const std::string computed = hash_.hex();
    std::array<char, kHashBytes> stored{};
    if (left_ != kHashBytes) fail("has another length than its header says");
    in_.read(stored.data(), kHashBytes);
    if (!in_ || computed != std::string(stored.data(), kHashBytes)) {
      fail("does not match its own checksum");
    }
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw DamagedCheckpoint(base::checkpoint_text(path_) + " " + what);
  }
  [[noreturn]] void refuse_kind() const {
    throw InputError(base::checkpoint_text(path_) +
                     " is a file of another kind: name a file that --checkpoint has made");
  }

 private:
  std::string path_;
  std::ifstream in_;
  uint64_t left_ = 0;
  base::Sha256 hash_;
};

json read_header(Reader& reader) {
  std::array<char, kMagicBytes> magic{};
  uint32_t format = 0;
  uint32_t length = 0;
  reader.get(magic.data(), magic.size());
  if (std::memcmp(magic.data(), kMagic, kMagicBytes) != 0) {
    // Zeros are what a power cut may leave of a checkpoint; anything else is a file of another
    // kind, named by mistake and not ours to set aside.
    if (std::all_of(magic.begin(), magic.end(), [](char c) { return c == 0; })) {
      reader.fail("holds zeros");
    }
    reader.refuse_kind();
  }
  reader.get(&format, sizeof(format));
  if (format != kCheckpointFormat) {
    reader.fail("has format " + std::to_string(format) + "; this engine reads format " +
                std::to_string(kCheckpointFormat));
  }
  reader.get(&length, sizeof(length));
  if (length > kLongestHeader) reader.fail("has a header of impossible length");
  std::string text(length, '\0');
  reader.get(text.data(), length);
  json header = json::parse(text, nullptr, false);
  if (header.is_discarded()) reader.fail("has a header that is not JSON");
  return header;
}

}  // namespace

std::string SearchIdentity::hash() const {
  std::string text;
  for (const auto& [name, content] : parts) text += name + '=' + content + '\n';
  return base::sha256_of_text(text);
}

void write_checkpoint(const std::string& path, const Checkpoint& c) {
  with_input_errors([&] {
    Writer writer(path);
    const std::string header = header_of(c).dump();
    const auto length = static_cast<uint32_t>(header.size());
    writer.put(kMagic, kMagicBytes);
    writer.put(&kCheckpointFormat, sizeof(kCheckpointFormat));
    writer.put(&length, sizeof(length));
    writer.put(header.data(), header.size());
    writer.put_all(pack_bits(c.finished));
    writer.put_all(c.accumulators.best);
    writer.put_all(c.accumulators.sum);
    writer.put_all(c.accumulators.squares);
    writer.commit();
  });
}

Checkpoint read_checkpoint(const std::string& path) {
  Reader reader(path);
  const json header = read_header(reader);
  Checkpoint c;
  size_t units = 0;
  try {
    c.numerics_version = base::whole_number<int>(header, "numerics_version");
    c.backend = header.at("backend").get<std::string>();
    c.fft = header.value("fft", "");  // not in those of earlier numerics versions
    c.precision = header.at("precision").get<std::string>();
    for (const json& part : header.at("search")) {
      c.identity.parts.emplace_back(part.at(0).get<std::string>(), part.at(1).get<std::string>());
    }
    units = base::whole_number<size_t>(header, "units");
    c.accumulators.height = base::whole_number<int>(header, "height");
    c.accumulators.width = base::whole_number<int>(header, "width");
  } catch (const json::exception& e) {
    reader.fail(std::string("has a damaged header: ") + e.what());
  }
  if (c.accumulators.height <= 0 || c.accumulators.width <= 0) reader.fail("has no pixels");
  std::vector<uint8_t> bits;
  reader.get_all(bits, units / 8 + (units % 8 != 0 ? 1 : 0));
  for (size_t i = 0; i < units; ++i) c.finished.push_back((bits[i / 8] >> i % 8 & 1) != 0);
  const auto pixels =
      static_cast<uint64_t>(c.accumulators.height) * static_cast<uint64_t>(c.accumulators.width);
  reader.get_all(c.accumulators.best, pixels);
  reader.get_all(c.accumulators.sum, pixels);
  reader.get_all(c.accumulators.squares, pixels);
  reader.check_hash();
  return c;
}

namespace {

// Names of the parts of `one` that `other` has not, or has otherwise.
std::vector<std::string> differing_parts(const SearchIdentity& one, const SearchIdentity& other) {
  std::vector<std::string> names;
  for (const auto& part : one.parts) {
    if (std::find(other.parts.begin(), other.parts.end(), part) == other.parts.end()) {
      names.push_back(part.first);
    }
  }
  return names;
}

}  // namespace

void check_same_search(const std::string& path, const Checkpoint& found, const Checkpoint& wanted) {
  std::string differences;
  const auto note = [&](const std::string& name) {
    differences += (differences.empty() ? "" : ", ") + name;
  };
  std::vector<std::string> parts = differing_parts(wanted.identity, found.identity);
  for (const std::string& name : differing_parts(found.identity, wanted.identity)) {
    if (std::find(parts.begin(), parts.end(), name) == parts.end()) parts.push_back(name);
  }
  for (const std::string& name : parts) note(name);
  if (found.backend != wanted.backend) note("backend (" + found.backend + ")");
  if (found.precision != wanted.precision) note("precision (" + found.precision + ")");
  // Another version is reported as such.
  const bool same_version = found.numerics_version == wanted.numerics_version;
  if (same_version && found.fft != wanted.fft) note("transforms (--fft " + found.fft + ")");
  const bool same_shape = found.finished.size() == wanted.finished.size() &&
                          found.accumulators.height == wanted.accumulators.height &&
                          found.accumulators.width == wanted.accumulators.width;
  if (differences.empty() && !same_shape) note("number of units or map size");
  if (!differences.empty()) {
    throw InputError(base::checkpoint_text(path) +
                     " belongs to another search; it differs in: " + differences +
                     ". Start without --resume, or give the checkpoint of this search");
  }
  if (!same_version) {
    throw DamagedCheckpoint(base::checkpoint_text(path) + " is of numerics version " +
                            std::to_string(found.numerics_version) +
                            ", which another version of this program has; this one has " +
                            std::to_string(wanted.numerics_version));
  }
}

}  // namespace engine
