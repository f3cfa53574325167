#include "scheduler/files/file_io.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "scheduler/errors.h"

namespace scheduler {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  explicit operator bool() const { return value_ >= 0; }

 private:
  int value_;
};

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int open_for_user(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) throw Invalid("'" + path + "' cannot be read: " + std::strerror(errno));
  return file;
}

std::string canonical_path(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::vector<char> target(PATH_MAX);
  const ssize_t size = readlink(link.c_str(), target.data(), target.size());
  if (size <= 0) throw Invalid("an open file whose name cannot be found");
  return {target.data(), static_cast<size_t>(size)};
}

struct DigestDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

constexpr char kDigits[] = "0123456789abcdef";

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(const void* data, size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string hex() {
    std::vector<unsigned char> digest(EVP_MAX_MD_SIZE);
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
      text += kDigits[digest[i] >> 4];
      text += kDigits[digest[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, DigestDeleter> context_;
};

void write_all(int descriptor, const std::string& text, const std::string& path) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t size = write(descriptor, text.data() + written, text.size() - written);
    if (size < 0 && errno != EINTR) fail("writing '" + path + "'");
    if (size > 0) written += static_cast<size_t>(size);
  }
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Length of the UTF-8 sequence that starts with this byte, 0 when none does.
int sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool second_byte_allowed(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xE0:
      return second >= 0xA0;  // overlong
    case 0xED:
      return second < 0xA0;  // surrogates
    case 0xF0:
      return second >= 0x90;  // overlong
    case 0xF4:
      return second < 0x90;  // above U+10FFFF
    default:
      return true;
  }
}

}  // namespace

FileFacts file_facts(int descriptor) {
  struct stat facts {};
  const std::string path = canonical_path(descriptor);
  if (fstat(descriptor, &facts) != 0) {
    throw Invalid("'" + path + "': " + std::strerror(errno));
  }
  if (!S_ISREG(facts.st_mode)) throw Invalid("'" + path + "' is not a regular file");
  if (facts.st_nlink == 0) throw Invalid("'" + path + "' was deleted meanwhile");
  if (!is_utf8(path)) {
    throw Invalid("the name of '" + path + "' is not valid UTF-8: rename the file or its folder");
  }
  return {path, facts.st_size, facts.st_mtim.tv_sec * 1'000'000'000LL + facts.st_mtim.tv_nsec};
}

FileFacts file_facts(const std::string& path) {
  const Descriptor file(open_for_user(path));
  return file_facts(file.get());
}

std::string hash_file(int descriptor) {
  Sha256 hash;
  std::vector<char> block(1 << 20);
  off_t position = 0;
  for (;;) {
    const ssize_t size = pread(descriptor, block.data(), block.size(), position);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      throw Invalid("'" + canonical_path(descriptor) + "' cannot be read: " + std::strerror(errno));
    }
    if (size == 0) return hash.hex();
    hash.add(block.data(), static_cast<size_t>(size));
    position += size;
  }
}

std::string hash_file(const std::string& path) {
  const Descriptor file(open_for_user(path));
  return hash_file(file.get());
}

std::string hash_text(const std::string& text) {
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hash.hex();
}

bool is_utf8(const std::string& text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int length = sequence_length(lead);
    if (length == 0 || i + static_cast<size_t>(length) > text.size()) return false;
    for (int k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
      if ((byte & 0xC0) != 0x80) return false;
      if (k == 1 && !second_byte_allowed(lead, byte)) return false;
    }
    i += static_cast<size_t>(length);
  }
  return true;
}

void write_file(const std::string& path, const std::string& text, int mode) {
  const std::string temporary = path + ".part";
  {
    const Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (!file) fail("creating '" + temporary + "'");
    write_all(file.get(), text, temporary);
    if (fsync(file.get()) != 0) fail("writing '" + temporary + "'");
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) fail("renaming '" + temporary + "'");
  const std::string folder = folder_of(path);
  const Descriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || fsync(directory.get()) != 0) fail("syncing '" + folder + "'");
}

std::optional<std::string> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) fail("opening '" + path + "'");
  std::string text;
  std::vector<char> block(1 << 16);
  for (;;) {
    const ssize_t size = read(file.get(), block.data(), block.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail("reading '" + path + "'");
    if (size == 0) return text;
    text.append(block.data(), static_cast<size_t>(size));
  }
}

std::string read_end(const std::string& path, int64_t limit) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0) return "";
  const off_t start = std::max<off_t>(0, facts.st_size - limit);
  std::string text(static_cast<size_t>(facts.st_size - start), '\0');
  const ssize_t size = pread(file.get(), text.data(), text.size(), start);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

}  // namespace scheduler
