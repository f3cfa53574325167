// Implements make_bzip2 of compressed.h.
#include <bzlib.h>

#include <new>
#include <utility>
#include <vector>

#include "engine/io/compressed.h"

namespace engine {
namespace {

class Bzip2 : public Decompressor {
 public:
  explicit Bzip2(RawRead raw) : raw_(std::move(raw)) { begin(); }
  ~Bzip2() override { ::BZ2_bzDecompressEnd(&stream_); }
  Bzip2(const Bzip2&) = delete;
  Bzip2& operator=(const Bzip2&) = delete;

  size_t read(void* bytes, size_t count) override {
    stream_.next_out = static_cast<char*>(bytes);
    stream_.avail_out = static_cast<unsigned>(count);
    while (stream_.avail_out > 0 && fill()) {
      const int code = ::BZ2_bzDecompress(&stream_);
      if (code == BZ_STREAM_END) {
        begin_next();
      } else if (code != BZ_OK) {
        throw DamagedCompression("is damaged: bzip2 cannot unpack it; copy it again");
      }
    }
    return count - stream_.avail_out;
  }

 private:
  void begin() {
    if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  // Another stream may follow: programs that compress by many threads write many.
  void begin_next() {
    const bz_stream at = stream_;
    ::BZ2_bzDecompressEnd(&stream_);
    stream_ = {};
    begin();
    stream_.next_in = at.next_in;
    stream_.avail_in = at.avail_in;
    stream_.next_out = at.next_out;
    stream_.avail_out = at.avail_out;
  }

  bool fill() {
    if (stream_.avail_in > 0) return true;
    stream_.next_in = buffer_.data();
    stream_.avail_in = static_cast<unsigned>(raw_(buffer_.data(), buffer_.size()));
    return stream_.avail_in > 0;
  }

  RawRead raw_;
  std::vector<char> buffer_ = std::vector<char>(size_t{1} << 16);
  bz_stream stream_{};
};

}  // namespace

std::unique_ptr<Decompressor> make_bzip2(const Decompressor::RawRead& raw) {
  return std::make_unique<Bzip2>(raw);
}

}  // namespace engine
